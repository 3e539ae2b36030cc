"""The last step of every emission: check an event, seal it in an envelope, hand it to the transport.

An emitter and its runs share one sink. It counts the events, and it decides what happens to errors: they are logged
and counted, and raised only in strict mode.
"""

import logging
import os
import threading
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lineproof.producers import metrics
from lineproof.producers.document import to_payload
from lineproof.producers.events import Document
from lineproof.producers.transports.base import Stats, Transport
from lineproof.schemas.envelope import Envelope
from lineproof.schemas.facets import FacetRegistry
from lineproof.schemas.openlineage import Event, InvalidEvent, parse, parse_document
from lineproof.schemas.sanitise import sanitise

log = logging.getLogger(__name__)

_sinks: "weakref.WeakSet[EventSink]" = weakref.WeakSet()


@dataclass(frozen=True)
class EmitterStats:
    """Counts of events since the emitter was created."""

    emitted: int
    refused: int
    delivery: Stats


class EventSink:
    """Seals events and hands them to a transport. `sequence` counts them from 0, so that a gap is visible."""

    def __init__(self, transport: Transport, registry: FacetRegistry, *, strict: bool = False) -> None:
        self.strict = strict
        self._transport = transport
        self._registry = registry
        self._emitted = self._refused = 0
        self._new_identity()
        _sinks.add(self)
        metrics.export(_sinks)

    def publish(self, document: Document, trace_id: str | None = None) -> None:
        """Publish an event built in this process. Facets that are not valid are reported and left out."""
        for problem in self._registry.problems(document):
            self.report(InvalidEvent(f"The facet {problem}. It was not sent.", "Correct the facet."))
            problem.group.pop(problem.key, None)
        self._send(parse_document(document, to_payload(document)), trace_id)

    def publish_json(self, payload: bytes) -> None:
        """Publish an event built elsewhere, byte for byte. Raises InvalidEvent if it is not OpenLineage."""
        self._send(parse(payload), None)

    @contextmanager
    def guard(self, *, always: bool = False) -> Iterator[None]:
        """Keep lineage errors away from the service: log and count them. Strict mode raises, unless `always`."""
        try:
            yield
        except Exception as error:
            if self.strict and not always:
                raise
            self._refused += 1
            # No traceback: its values are not sanitised.
            log.error("Lineage was not sent as requested: %s", sanitise(str(error)))  # noqa: TRY400

    def report(self, error: Exception) -> None:
        """Log and count an error; raise it in strict mode."""
        with self.guard():
            raise error

    @property
    def stats(self) -> EmitterStats:
        """Counts of events so far."""
        return EmitterStats(self._emitted, self._refused, self._transport.stats)

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything is delivered. Returns False on timeout; the rest stays in the spool."""
        return self._transport.flush(timeout_s)

    def close(self, timeout_s: float) -> bool:
        """Flush and stop the transport. Returns False if events are left in the spool."""
        return self._transport.close(timeout_s)

    def _send(self, event: Event, trace_id: str | None) -> None:
        with self._lock:
            envelope = Envelope.seal(event, self._emitter_id, self._sequence, trace_id)
            self._sequence += 1
            self._emitted += 1
            self._transport.publish(event.key, envelope)

    def _new_identity(self) -> None:
        # Re-entrant: a signal handler may emit while its own thread holds the lock.
        self._lock = threading.RLock()
        self._emitter_id = str(uuid.uuid4())
        self._sequence = 0


def _new_identities_after_fork() -> None:
    for sink in _sinks:
        sink._new_identity()


os.register_at_fork(after_in_child=_new_identities_after_fork)
