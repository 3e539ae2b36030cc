"""Dead letters, one by one: what they are, and how they come to life again.

A record that is sent again says in a header which one it takes the place of. So what was re-driven is known from the
archive alone (the view `redriven`), and no row is ever changed or deleted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineproof.schemas.errors import LineproofError, suggest
from lineproof.schemas.reasons import Reason
from lineproof.serving.sql import Tables
from lineproof.topics.cluster import Kafka, RecordWithHeaders

REDRIVEN_FROM = "lineproof.redriven-from"
"""The header that names the record which was dead, as TOPIC/PARTITION/OFFSET."""

EXCERPT_BYTES = 60
AT_A_TIME = 1000
"""So many letters are in memory, with their bytes."""

_LETTERS = """
WITH letters AS (
    SELECT topic || '/' || partition || '/' || dead_letters.offset AS record, * FROM dead_letters
),
latest AS (
    SELECT source, timestamp, reason, row_number() OVER (PARTITION BY source ORDER BY timestamp DESC) AS place
    FROM redriven
)
SELECT {columns}
FROM letters
LEFT JOIN latest ON latest.source = letters.record AND latest.place = 1
WHERE {condition}
ORDER BY letters.timestamp DESC, letters.record
"""
_OUTLINE = (
    "letters.record, letters.timestamp, letters.reason, octet_length(letters.value), "
    f"letters.value[1:{EXCERPT_BYTES}], latest.timestamp, latest.reason"
)
_WHOLE = f"{_OUTLINE}, letters.key, letters.headers, letters.value"


class NoSuchLetter(LineproofError):
    """It is not among the dead letters."""


class UnknownReason(LineproofError):
    """No dead letter can have this reason."""

    exit_code = 2


@dataclass(frozen=True)
class Outline:
    """A record that cannot be used, without its bytes."""

    record: str
    timestamp: datetime
    reason: str
    size: int | None
    beginning: bytes | None
    redriven_at: datetime | None
    """When it was last sent again, as far as the job has seen it."""
    reason_now: str | None
    """Why what was sent cannot be used either."""

    @property
    def fate(self) -> str:
        """What became of it."""
        if self.redriven_at is None:
            return ""
        return f"dead again: {self.reason_now}" if self.reason_now else "well"

    @property
    def is_well(self) -> bool:
        """Whether a record that can be used has taken its place."""
        return self.redriven_at is not None and self.reason_now is None


@dataclass(frozen=True)
class DeadLetter(Outline):
    """A record that cannot be used."""

    key: bytes | None
    headers: list[dict[str, Any]] | None
    value: bytes | None

    def again(self, patch: bytes | None = None) -> RecordWithHeaders:
        """The record to send in its place: the same key and headers, and the same bytes unless they are patched."""
        headers = [(one["key"], one["value"]) for one in self.headers or () if one["key"] != REDRIVEN_FROM]
        value = self.value if patch is None else patch
        return self.key, value, [*headers, (REDRIVEN_FROM, self.record.encode())]


class DeadLetters:
    """Those in the tables below one directory."""

    def __init__(self, root: str) -> None:
        self._tables = Tables(root)

    def outlines(self, reason: str | None = None) -> list[Outline]:
        """The newest first; of one reason, or of all."""
        known = [one.value for one in Reason]
        if reason is not None and reason not in known:
            raise UnknownReason(f"There is no reason {reason}.", suggest(reason, known))
        condition, parameters = ("letters.reason = ?", [reason]) if reason else ("true", [])
        return [Outline(*row) for row in self._rows(_OUTLINE, condition, parameters)]

    def named(self, records: Sequence[str]) -> list[DeadLetter]:
        """These, in this order; each as TOPIC/PARTITION/OFFSET."""
        condition = f"letters.record IN ({', '.join('?' * len(records))})"
        letters = (DeadLetter(*row) for row in self._rows(_WHOLE, condition, records))
        found = {one.record: one for one in letters}
        if missing := [name for name in records if name not in found]:
            raise NoSuchLetter(
                f"{missing[0]} is no dead letter.",
                "Name it as TOPIC/PARTITION/OFFSET; `lineproof dead-letters list --all` shows them.",
            )
        return [found[name] for name in records]

    def _rows(self, columns: str, condition: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        return self._tables.query(_LETTERS.format(columns=columns, condition=condition), *parameters).rows


def redrive(
    letters: DeadLetters, records: Sequence[str], kafka: Kafka, topic: str, patch: bytes | None = None
) -> Iterator[int]:
    """Send them to the topic again, some at a time; tells how many were sent."""
    for begin in range(0, len(records), AT_A_TIME):
        some = letters.named(records[begin : begin + AT_A_TIME])
        kafka.send(topic, (letter.again(patch) for letter in some))
        yield begin + len(some)
