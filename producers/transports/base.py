"""The contract of a transport, and of the sender that a spooled transport delivers with."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.producers.spooling.spool_directory import SpoolEntry
from lineproof.schemas.envelope import Envelope
from lineproof.schemas.errors import LineproofError


class EndpointUnavailable(LineproofError):
    """The endpoint does not answer, or does not accept events."""


@dataclass(frozen=True)
class Stats:
    """Counts of events. Events that an earlier process left in the spool count as delivered, but not as taken."""

    taken: int = 0
    delivered: int = 0
    lost: int = 0
    rejected: int = 0
    errors: int = 0
    pending: int = 0
    pending_bytes: int = 0


class Transport(Protocol):
    """A destination of events. `publish` never raises because of delivery, and never waits for the network."""

    def publish(self, key: bytes, envelope: Envelope) -> None:
        """Take one event."""

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything taken is delivered. Returns False on timeout."""

    def close(self, timeout_s: float) -> bool:
        """Flush, stop and release all resources. Returns False if events are left in the spool."""

    def confirm(self, timeout_s: float) -> None:
        """Raise EndpointUnavailable if the endpoint does not answer."""

    @property
    def fallback(self) -> str | None:
        """Where events wait while the endpoint is unavailable; None if they cannot wait."""

    @property
    def stats(self) -> Stats:
        """Counts of events so far."""


class ImmediateTransport:
    """Base of transports that are done with an event when `publish` returns. Nothing ever waits."""

    fallback: str | None = None

    def flush(self, timeout_s: float) -> bool:  # noqa: ARG002
        """Nothing waits."""
        return True

    def close(self, timeout_s: float) -> bool:  # noqa: ARG002
        """Nothing waits."""
        return True

    def confirm(self, timeout_s: float) -> None:
        """There is no endpoint that could be unavailable."""


class DeliveryStatus(Enum):
    """What happened to a record."""

    DELIVERED = "delivered"
    REJECTED = "rejected"
    """The endpoint will never accept this record, but it accepts others."""
    RETRY = "retry"
    """The endpoint accepts no records for now. This one and the ones after it are sent again, by a new sender."""
    ENDPOINT_ERROR = "endpoint error"
    """An error to report that is about no single record. The sender keeps trying."""


class DeliveryResult(NamedTuple):
    """What happened to an entry; `entry` is None for an ENDPOINT_ERROR."""

    status: DeliveryStatus
    entry: SpoolEntry | None
    reason: str = ""
    retry_after_s: float = 0.0
    """How long the endpoint asks to wait before a RETRY."""


class Sender(Protocol):
    """Delivers records to one endpoint. Used by one thread, and replaced after a RETRY or an exception.

    Records with the same key must arrive in the order in which they were sent.
    """

    def send(self, record: SpooledRecord, entry: SpoolEntry) -> bool:
        """Take a record for delivery. Returns False if there is no room for now."""

    def poll(self, timeout_s: float) -> Iterable[DeliveryResult]:
        """The results since the last call. Waits for the first."""

    def confirm(self, timeout_s: float) -> None:
        """Raise EndpointUnavailable if the endpoint does not answer."""

    def close(self) -> None:
        """Release all resources without waiting. Records without a result are sent again by the next sender."""
