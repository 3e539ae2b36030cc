"""Events to several transports. A slow or failing transport does not delay the others."""

import logging
import time
from collections.abc import Sequence

from lineproof.producers.transports.base import Stats, Transport
from lineproof.schemas.envelope import Envelope

log = logging.getLogger(__name__)


class CompositeTransport:
    """Publishes every event to each of its transports; its counts are their sums. Without any, lineage is off."""

    def __init__(self, transports: Sequence[Transport]) -> None:
        self._transports = transports

    def publish(self, key: bytes, envelope: Envelope) -> None:
        """Publish one event everywhere, even if a transport fails."""
        for transport in self._transports:
            try:
                transport.publish(key, envelope)
            except Exception:
                log.exception("A transport failed; the others continue")

    def flush(self, timeout_s: float) -> bool:
        """Flush all, within one deadline."""
        deadline = time.monotonic() + timeout_s
        flushed = [transport.flush(max(0.0, deadline - time.monotonic())) for transport in self._transports]
        return all(flushed)

    def close(self, timeout_s: float) -> bool:
        """Close all, within one deadline."""
        deadline = time.monotonic() + timeout_s
        closed = [transport.close(max(0.0, deadline - time.monotonic())) for transport in self._transports]
        return all(closed)

    def confirm(self, timeout_s: float) -> None:
        """Raise if one of the endpoints does not answer."""
        for transport in self._transports:
            transport.confirm(timeout_s)

    @property
    def fallback(self) -> str | None:
        """The fallbacks of all, or None if one has none."""
        fallbacks = [transport.fallback for transport in self._transports]
        return ", ".join(filter(None, fallbacks)) if fallbacks and all(fallbacks) else None

    @property
    def stats(self) -> Stats:
        """The sums of all counts."""
        parts = [transport.stats for transport in self._transports]
        return Stats(**{name: sum(getattr(part, name) for part in parts) for name in Stats.__dataclass_fields__})
