"""Records that cannot be used: why, what to do, and the command that sends them again."""

import shlex
from datetime import datetime
from typing import Any

from lineproof.schemas.reasons import Reason
from lineproof.serving.answers.model import Answer, Page
from lineproof.serving.answers.paging import Key, Paging, page
from lineproof.serving.answers.statement import Conditions, one_of
from lineproof.serving.open_tables import TableSet

SHOWN_BYTES = 4096
KEYS = (Key("came_at", is_descending=True, is_time=True), Key("record"))
_LETTERS = f"""
SELECT topic || '/' || partition || '/' || letters.offset AS record, topic, partition, letters.offset AS record_offset,
    timestamp AS came_at, reason, error, key[1:{SHOWN_BYTES}] AS key_bytes, value[1:{SHOWN_BYTES}] AS value_bytes,
    octet_length(value) AS size
FROM dead_letters AS letters
""".strip()
_REDRIVEN = """
SELECT source, arg_max(topic || '/' || partition || '/' || redriven.offset, timestamp) AS record,
    arg_max(coalesce(reason, ''), timestamp) AS reason
FROM redriven WHERE {chosen} GROUP BY source
"""
_REASONS = (
    "SELECT reason, count(*) AS records, max(timestamp) AS last_at FROM dead_letters GROUP BY reason ORDER BY ALL"
)


class DeadLetter(Answer):
    """One record."""

    record: str
    topic: str
    partition: int
    offset: int
    timestamp: datetime
    reason: str
    meaning: str
    remedy: str
    error: str | None
    key_text: str | None
    value_text: str | None
    """Its beginning; bytes that are no text are escaped."""
    size: int | None
    redrive: str
    """The command that sends it again."""
    redriven_as: str | None
    """The record that was sent instead."""
    redriven_reason: str | None
    """Why that one cannot be used either; null if it can."""


class ReasonCount(Answer):
    """How many records cannot be used for a reason."""

    reason: str
    meaning: str
    remedy: str
    records: int
    last_at: datetime | None


def dead_letters(tables: TableSet, reason: str | None, topic: str | None, paging: Paging) -> Page[DeadLetter]:
    """Dead letters, the newest first."""
    conditions = Conditions()
    conditions.equal("reason", reason)
    conditions.equal("topic", topic)
    found = page(tables, f"{_LETTERS} {conditions.where}", conditions.parameters, KEYS, paging)
    redriven = _redriven(tables, [row["record"] for row in found.rows])
    items = [_letter(row, redriven.get(row["record"])) for row in found.rows]
    return Page(items=items, next_cursor=found.next_cursor, sql=found.sql)


def dead_letter_reasons(tables: TableSet) -> Page[ReasonCount]:
    """The reasons, the most frequent first."""
    counted = [
        ReasonCount(meaning=meaning(row["reason"])[0], remedy=meaning(row["reason"])[1], **row)
        for row in tables.rows(_REASONS)
    ]
    return Page(items=sorted(counted, key=lambda one: (-one.records, one.reason)), sql=_REASONS)


def meaning(code: str) -> tuple[str, str]:
    """What a reason means, and what to do. Tables of a newer release may have others."""
    try:
        reason = Reason.of(code)
    except StopIteration:
        return code, "Upgrade lineproof: this version does not know the reason."
    return reason.meaning, reason.remedy


def escaped(value: bytes | None) -> str | None:
    """Bytes as text; control characters and what is not UTF-8 as \\xNN."""
    if value is None:
        return None
    text = value.decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() or one in "\n\t" else _escape(one) for one in text)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _redriven(tables: TableSet, records: list[str]) -> dict[str, tuple[str, str]]:
    rows = tables.query(_REDRIVEN.format(chosen=one_of("source", records)), *records).rows if records else []
    return {source: (record, reason) for source, record, reason in rows}


def _letter(row: dict[str, Any], redriven: tuple[str, str] | None) -> DeadLetter:
    means, remedy = meaning(row["reason"])
    return DeadLetter(
        offset=row["record_offset"],
        timestamp=row["came_at"],
        meaning=means,
        remedy=remedy,
        key_text=escaped(row["key_bytes"]),
        value_text=escaped(row["value_bytes"]),
        redrive=f"lineproof dead-letters redrive {shlex.quote(row['record'])}",
        redriven_as=redriven[0] if redriven else None,
        redriven_reason=(redriven[1] or None) if redriven else None,
        **{name: row[name] for name in ("record", "topic", "partition", "reason", "error", "size")},
    )
