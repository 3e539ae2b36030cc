"""Events kept instead of sent: for a service's own tests of its lineage."""

from lineproof.producers.transports.base import Stats
from lineproof.schemas.envelope import Envelope


class MemoryTransport:
    """Everything that was published, in order."""

    fallback: str | None = None

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

    def flush(self, timeout_s: float) -> bool:  # noqa: ARG002
        """Nothing waits."""
        return True

    def close(self, timeout_s: float) -> bool:  # noqa: ARG002
        """Nothing waits."""
        return True

    def confirm(self, timeout_s: float) -> None:
        """Always there."""

    @property
    def stats(self) -> Stats:
        """What was kept."""
        return Stats(taken=len(self.keys), delivered=len(self.keys))
