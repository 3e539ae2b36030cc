"""Events kept in memory instead of sent, for a service's tests of its own lineage."""

from lineproof.producers.transports.base import ImmediateTransport, Stats
from lineproof.schemas.envelope import Envelope
from lineproof.schemas.record import Record


class MemoryTransport(ImmediateTransport):
    """Keeps every published event, in order."""

    def __init__(self) -> None:
        self.keys: list[bytes] = []
        self.envelopes: list[Envelope] = []

    def publish(self, key: bytes, envelope: Envelope) -> None:
        """Keep one event."""
        self.keys.append(key)
        self.envelopes.append(envelope)

    @property
    def records(self) -> list[Record]:
        """The events as Kafka records."""
        return [Record(key, envelope.encode()) for key, envelope in zip(self.keys, self.envelopes, strict=True)]

    @property
    def stats(self) -> Stats:
        """Counts of events so far."""
        return Stats(taken=len(self.keys), delivered=len(self.keys))
