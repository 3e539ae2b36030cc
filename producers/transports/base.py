"""What an emitter needs of a transport, and what a transport with a spool needs of its endpoint."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from lineproof.producers.spooling.frames import Record
from lineproof.producers.spooling.spool_directory import Entry
from lineproof.schemas.envelope import Envelope
from lineproof.schemas.errors import LineproofError


class EndpointUnavailable(LineproofError):
    """The endpoint does not answer, or has no place for events."""


@dataclass(frozen=True)
class Stats:
    """What became of the events so far. Those that an earlier process left behind are delivered, but not taken."""

    taken: int = 0
    delivered: int = 0
    lost: int = 0
    rejected: int = 0
    errors: int = 0
    pending: int = 0
    pending_bytes: int = 0


class Transport(Protocol):
    """Where events go. `publish` never raises for reasons of delivery and never waits for the network."""

    def publish(self, key: bytes, envelope: Envelope) -> None:
        """Take one event."""

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything taken is delivered; False when time ran out."""

    def close(self, timeout_s: float) -> bool:
        """Flush, stop and let go; False when something is left in the spool."""

    def confirm(self, timeout_s: float) -> None:
        """Raise EndpointUnavailable where the endpoint does not answer."""

    @property
    def fallback(self) -> str | None:
        """Where events wait while the endpoint is away."""

    @property
    def stats(self) -> Stats:
        """What became of the events so far."""


class AtOnce:
    """The part of a transport that is done with an event when `publish` returns: nothing ever waits."""

    fallback: str | None = None

    def flush(self, timeout_s: float) -> bool:  # noqa: ARG002
        """Nothing waits."""
        return True

    def close(self, timeout_s: float) -> bool:  # noqa: ARG002
        """Nothing waits."""
        return True

    def confirm(self, timeout_s: float) -> None:
        """What is done at once says so at once."""


class Verdict(Enum):
    """What an endpoint makes of a record."""

    DELIVERED = "delivered"
    REJECTED = "rejected"
    """It will never take this record, and takes others."""
    RETRY = "retry"
    """It takes none now: this one and those after it are to be sent again, by a new sender."""
    TROUBLE = "trouble"
    """Something to be told, about no record: the sender itself goes on trying."""


class Outcome(NamedTuple):
    """What became of an entry; None where the verdict is about no record."""

    verdict: Verdict
    entry: Entry | None
    reason: str = ""


class Sender(Protocol):
    """Delivers records to one place. Used by one thread, and thrown away after a RETRY or an exception.

    Records of one key must arrive in the order in which they were sent.
    """

    def send(self, record: Record, entry: Entry) -> bool:
        """Take a record for delivery; False when there is no room now."""

    def poll(self, timeout_s: float) -> Iterable[Outcome]:
        """The outcomes since the last call, waiting for the first of them."""

    def confirm(self, timeout_s: float) -> None:
        """Raise EndpointUnavailable where the endpoint does not answer."""

    def close(self) -> None:
        """Let go, waiting for nothing. What has no outcome yet is sent again by another sender."""
