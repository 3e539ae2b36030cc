"""Two sets of tables, row by row: whether they say the same, and where not, which rows and columns.

A row is its SHA-256, over all columns as JSON; a table is the SHA-256 over those of its rows, sorted. So neither the
order of rows nor files nor versions matter. Rows are compared by their hashes, on disk where memory is short.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineproof.schemas.errors import LineproofError, suggest
from lineproof.serving.delta_files import bounded_duckdb, files_of, is_table, quoted, rows_sql
from lineproof.streaming.delta.store import Table
from lineproof.streaming.job import DERIVED

TABLES: dict[str, Table] = {module.TABLE.name: module.TABLE for module in DERIVED}

_VIEW = "CREATE OR REPLACE VIEW {side} AS SELECT {columns} FROM {rows}"
_COLUMNS = "SELECT column_name FROM (DESCRIBE SELECT * FROM {rows})"
_HASHES = (
    "CREATE OR REPLACE TABLE {side}_hashes AS SELECT {key}, unhex(sha256(to_json({side})::VARCHAR)) AS hash FROM {side}"
)
_SORTED = "SELECT hash FROM {side}_hashes ORDER BY hash"
# The same row twice is not the same as once: copies are counted.
_DIFFERING = """
CREATE OR REPLACE TABLE differing AS
WITH rows_of_both AS (
    SELECT *, 1 AS here, 0 AS there FROM here_hashes UNION ALL BY NAME SELECT *, 0 AS here, 1 AS there FROM there_hashes
),
unlike AS (
    SELECT {key}, hash, sum(here) AS here, sum(there) AS there FROM rows_of_both
    GROUP BY {key}, hash HAVING sum(here) <> sum(there)
)
SELECT {key}, sum(here)::BIGINT AS here, sum(there)::BIGINT AS there FROM unlike GROUP BY {key}
"""
_SOME = "SELECT * FROM differing ORDER BY {key} LIMIT {limit}"
_ROWS = "SELECT {columns} FROM {side} WHERE {condition} LIMIT 1"


class NoSuchTable(LineproofError):
    """A name that no curated table has."""

    exit_code = 2


@dataclass(frozen=True)
class Row:
    """A row that is not the same on both sides."""

    key: tuple[Any, ...]
    here: int
    there: int
    """How often it is there such as it is not on the other side."""
    columns: tuple[str, ...]
    """Those that differ, where both sides have one."""

    @property
    def said(self) -> str:
        """What is the matter."""
        if not self.there:
            return "only here"
        if not self.here:
            return "only there"
        return f"differs in {', '.join(self.columns)}" if self.columns else "not as many copies"


@dataclass(frozen=True)
class TableDiff:
    """One table on both sides. A side without the table has no hash."""

    name: str
    rows_here: int
    rows_there: int
    hash_here: str | None
    hash_there: str | None
    differing: int
    """How many keys."""
    rows: tuple[Row, ...]
    """Some of them."""

    @property
    def is_same(self) -> bool:
        """Whether both say the same."""
        return self.hash_here is not None and self.hash_here == self.hash_there


def diff(here: Path, there: Path, home: Path, names: Sequence[str] = (), limit: int = 10) -> Iterator[TableDiff]:
    """Compare the curated tables, one after the other."""
    for name in names:
        if name not in TABLES:
            raise NoSuchTable(f"There is no curated table {name}.", suggest(name, TABLES))
    for place in (here, there):
        if not any(is_table(place / name) for name in TABLES):
            raise NoSuchTable(f"There are no tables in {place}.", "Name a directory of tables.")
    for table in TABLES.values():
        if table.name in names or not names:
            with bounded_duckdb(home) as connection:
                yield _compared(connection, table, here, there, limit)


def _compared(connection: Any, table: Table, here: Path, there: Path, limit: int) -> TableDiff:
    sides = {"here": here / table.name, "there": there / table.name}
    (rows_here, hash_here), (rows_there, hash_there) = (
        _hashed(connection, table, side, location) for side, location in sides.items()
    )
    key = _names(table.key)
    connection.execute(_DIFFERING.format(key=key))
    [(differing,)] = connection.sql("SELECT count(*) FROM differing").fetchall()
    some = connection.sql(_SOME.format(key=key, limit=limit)).fetchall() if differing else []
    return TableDiff(
        table.name,
        rows_here,
        rows_there,
        hash_here,
        hash_there,
        differing,
        tuple(_row(connection, table, one) for one in some),
    )


def _hashed(connection: Any, table: Table, side: str, location: Path) -> tuple[int, str | None]:
    """The number of rows, and the hash of all."""
    exists = is_table(location)
    files = files_of(location) if exists else []
    rows = rows_sql(files, "NULL")
    there_are = {name for (name,) in connection.sql(_COLUMNS.format(rows=rows)).fetchall()} if files else set()
    # In an order of their own, and with those that an older release did not have.
    columns = ", ".join(
        f'"{name}"' if name in there_are else f'NULL::VARCHAR AS "{name}"' for name in sorted(table.columns)
    )
    connection.execute(_VIEW.format(side=side, columns=columns, rows=rows))
    connection.execute(_HASHES.format(side=side, key=_names(table.key)))
    total, count = hashlib.sha256(), 0
    for batch in connection.sql(_SORTED.format(side=side)).to_arrow_reader():
        count += batch.num_rows
        total.update(b"".join(batch.column(0).to_pylist()))
    return count, total.hexdigest() if exists else None


def _row(connection: Any, table: Table, found: tuple[Any, ...]) -> Row:
    *key, here, there = found
    values = zip(table.key, map(_literal, key), strict=True)
    condition = " AND ".join(f'"{name}" IS NOT DISTINCT FROM {value}' for name, value in values)
    columns: tuple[str, ...] = ()
    if here and there:
        texts = ", ".join(f'to_json("{name}")::VARCHAR' for name in table.columns)
        pair = (
            connection.sql(_ROWS.format(columns=texts, side=side, condition=condition)).fetchall()[0]
            for side in ("here", "there")
        )
        columns = tuple(name for name, *values in zip(table.columns, *pair, strict=True) if values[0] != values[1])
    return Row(tuple(key), here, there, columns)


def _names(columns: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


def _literal(value: Any) -> str:
    return "NULL" if value is None else str(value) if isinstance(value, int) else quoted(value)
