"""Dead letters: why each cannot be used, its bytes, and whether it was sent again with success.

A record that replaces a dead letter names it in a header. So `records` shows which dead letters were sent again
(the view `redriven`), and no row is ever changed or deleted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineproof.schemas.errors import LineproofError, suggest
from lineproof.schemas.reasons import Reason
from lineproof.serving.sql import Tables

EXCERPT_BYTES = 60

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


class DeadLetterNotFound(LineproofError):
    """No dead letter has these coordinates."""


class UnknownReason(LineproofError):
    """No dead letter can have this reason."""

    exit_code = 2


@dataclass(frozen=True)
class Outline:
    """A dead letter without its bytes."""

    record: str
    timestamp: datetime
    reason: str
    size: int | None
    beginning: bytes | None
    redriven_at: datetime | None
    """When it was last sent again, as far as the job has read."""
    reason_now: str | None
    """Why the record that was sent instead cannot be used either."""

    @property
    def outcome(self) -> str:
        """What became of the record that was sent instead; empty if none was."""
        if self.redriven_at is None:
            return ""
        return f"dead again: {self.reason_now}" if self.reason_now else "resolved"

    @property
    def is_resolved(self) -> bool:
        """Whether a usable record has replaced it."""
        return self.redriven_at is not None and self.reason_now is None


@dataclass(frozen=True)
class DeadLetter(Outline):
    """A dead letter with its bytes."""

    key: bytes | None
    headers: list[dict[str, Any]] | None
    value: bytes | None


class DeadLetters:
    """The dead letters in the tables of one directory."""

    def __init__(self, tables: str) -> None:
        self._tables = Tables(tables)

    def outlines(self, reason: str | None = None) -> list[Outline]:
        """All dead letters, or those with one reason; the newest first."""
        codes = [known.value for known in Reason]
        if reason is not None and reason not in codes:
            raise UnknownReason(f"There is no reason {reason}.", suggest(reason, codes))
        condition, parameters = ("letters.reason = ?", [reason]) if reason else ("true", [])
        return [Outline(*row) for row in self._rows(_OUTLINE, condition, parameters)]

    def named(self, records: Sequence[str]) -> list[DeadLetter]:
        """The dead letters with these coordinates, each as TOPIC/PARTITION/OFFSET, in this order."""
        condition = f"letters.record IN ({', '.join('?' * len(records))})"
        letters = (DeadLetter(*row) for row in self._rows(_WHOLE, condition, records))
        found = {letter.record: letter for letter in letters}
        if missing := [name for name in records if name not in found]:
            raise DeadLetterNotFound(
                f"{missing[0]} is not a dead letter.",
                "Name it as TOPIC/PARTITION/OFFSET; `lineproof dead-letters list --all` shows all of them.",
            )
        return [found[name] for name in records]

    def _rows(self, columns: str, condition: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        return self._tables.query(_LETTERS.format(columns=columns, condition=condition), *parameters).rows
