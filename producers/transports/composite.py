"""Events to several places at once, each on its own: what one has not got yet keeps no other waiting."""

import logging
import time
from collections.abc import Sequence

from lineproof.producers.transports.base import Stats, Transport
from lineproof.schemas.envelope import Envelope

log = logging.getLogger(__name__)


class CompositeTransport:
    """Hands every event to each of its transports; its counters are their sums. Without any, lineage is off."""

    def __init__(self, transports: Sequence[Transport]) -> None:
        self._transports = transports

    def publish(self, key: bytes, envelope: Envelope) -> None:
        """Hand on one event, whatever becomes of it elsewhere."""
        for transport in self._transports:
            try:
                transport.publish(key, envelope)
            except Exception:
                log.exception("A transport failed; the others go on")

    def flush(self, timeout_s: float) -> bool:
        """Wait for all, within one deadline."""
        deadline = time.monotonic() + timeout_s
        flushed = [one.flush(max(0.0, deadline - time.monotonic())) for one in self._transports]
        return all(flushed)

    def close(self, timeout_s: float) -> bool:
        """Close all, within one deadline."""
        deadline = time.monotonic() + timeout_s
        closed = [one.close(max(0.0, deadline - time.monotonic())) for one in self._transports]
        return all(closed)

    def confirm(self, timeout_s: float) -> None:
        """Refuse as soon as one of them does."""
        for transport in self._transports:
            transport.confirm(timeout_s)

    @property
    def fallback(self) -> str | None:
        """Named only where each has one."""
        named = [transport.fallback for transport in self._transports]
        return ", ".join(filter(None, named)) if named and all(named) else None

    @property
    def stats(self) -> Stats:
        """The sums of all."""
        parts = [transport.stats for transport in self._transports]
        return Stats(**{name: sum(getattr(part, name) for part in parts) for name in Stats.__dataclass_fields__})
