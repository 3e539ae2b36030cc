"""Events kept instead of sent: for a service's own tests of its lineage."""

from lineproof.producers.transports.base import AtOnce, Stats
from lineproof.schemas.envelope import Envelope


class MemoryTransport(AtOnce):
    """Everything that was published, in order."""

    def __init__(self) -> None:
        self.keys: list[bytes] = []
        self.envelopes: list[Envelope] = []

    def publish(self, key: bytes, envelope: Envelope) -> None:
        """Keep one event."""
        self.keys.append(key)
        self.envelopes.append(envelope)

    @property
    def records(self) -> list[tuple[bytes, bytes]]:
        """Keys and values as Kafka would have got them."""
        return [(key, envelope.encode()) for key, envelope in zip(self.keys, self.envelopes, strict=True)]

    @property
    def stats(self) -> Stats:
        """What was kept."""
        return Stats(taken=len(self.keys), delivered=len(self.keys))
