"""Pages of a list by key: the next page begins after the last row of this one, whatever was added before it."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineproof.schemas.errors import LineproofError
from lineproof.serving.answers.statement import Statement
from lineproof.serving.open_tables import TableSet

DEFAULT_LIMIT, MAX_LIMIT = 100, 1000


class InvalidCursor(LineproofError):
    """The cursor is not one of this list."""

    exit_code = 2


@dataclass(frozen=True)
class Key:
    """A column of the result that takes part in its order; never null."""

    column: str
    is_descending: bool = False
    is_time: bool = False


@dataclass(frozen=True)
class Paging:
    """Which part of a list is wanted."""

    limit: int = DEFAULT_LIMIT
    cursor: str | None = None


@dataclass(frozen=True)
class Rows:
    """The rows of a page."""

    rows: list[dict[str, Any]]
    next_cursor: str | None
    sql: str


def page(
    tables: TableSet, query: str, parameters: Sequence[object], keys: Sequence[Key], paging: Paging, shown: str = ""
) -> Rows:
    """The rows of a query that come after the cursor, in the order of the keys, which identify a row.

    `shown` stands for the query in the SQL of the answer, if the query itself fetches keys only.
    """
    after, values = _after(keys, paging.cursor)
    order = ", ".join(f"{key.column} DESC" if key.is_descending else key.column for key in keys)

    def statement(of: str, limit: int) -> Statement:
        where = f" WHERE {after}" if after else ""
        text = f"SELECT * FROM ({of}){where} ORDER BY {order} LIMIT {limit}"
        return Statement(text, (*parameters, *values))

    bounded = statement(query, paging.limit + 1)
    found = tables.rows(bounded.text, *bounded.parameters)
    rows = found[: paging.limit]
    cursor = encode([rows[-1][key.column] for key in keys]) if len(found) > len(rows) else None
    return Rows(rows, cursor, statement(shown or query, paging.limit).shown())


def slice_of(items: Sequence[Any], paging: Paging) -> tuple[list[Any], str | None]:
    """A part of a list in memory, whose order does not change while its tables do not."""
    [start] = decode(paging.cursor, 1) if paging.cursor else [0]
    if not isinstance(start, int) or start < 0:
        raise _invalid()
    end = start + paging.limit
    return list(items[start:end]), encode([end]) if end < len(items) else None


def encode(values: Sequence[Any]) -> str:
    """A cursor from the key of a row."""
    texts = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    return base64.urlsafe_b64encode(json.dumps(texts, separators=(",", ":")).encode()).decode().rstrip("=")


def decode(cursor: str, count: int) -> list[Any]:
    """The key of a row from a cursor."""
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError) as error:
        raise _invalid() from error
    if not isinstance(values, list) or len(values) != count:
        raise _invalid()
    return values


def _after(keys: Sequence[Key], cursor: str | None) -> tuple[str, list[object]]:
    """The condition that a row comes after the cursor: (a > x) OR (a = x AND b > y) OR …"""
    if not cursor:
        return "", []
    values = [_typed(key, value) for key, value in zip(keys, decode(cursor, len(keys)), strict=True)]
    alternatives, parameters = [], []
    for at, key in enumerate(keys):
        equal = [f"{before.column} = ?" for before in keys[:at]]
        alternatives.append(" AND ".join([*equal, f"{key.column} {'<' if key.is_descending else '>'} ?"]))
        parameters += [*values[:at], values[at]]
    return " OR ".join(f"({one})" for one in alternatives), parameters


def _typed(key: Key, value: object) -> object:
    if not key.is_time:
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            return value
        raise _invalid()
    try:
        return datetime.fromisoformat(str(value))
    except ValueError as error:
        raise _invalid() from error


def _invalid() -> InvalidCursor:
    return InvalidCursor("The cursor is not one of this list.", "Take next_cursor from the answer before, unchanged.")
