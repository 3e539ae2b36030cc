"""Compare two sets of tables row by row: whether they are equal, and if not, which rows and columns differ.

The hash of a row is the SHA-256 of all its columns as JSON. The hash of a table is the SHA-256 of the sorted row
hashes, so it does not depend on the order of rows, on files or on versions. Rows are compared by hash, on disk where
memory is short.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from lineproof.schemas.errors import TableNotFound, suggest
from lineproof.schemas.tables import DERIVED, JOB_IO, LINEAGE_EVENTS, RUNS, TableContract
from lineproof.serving.delta_reader import TableSnapshot, batches, bounded_duckdb, identifier, is_table, literal

TABLES: dict[str, TableContract] = {table.name: table for table in DERIVED}

_VIEW = "CREATE OR REPLACE VIEW {side} AS SELECT {columns} FROM ({rows})"
_HASHES = (
    "CREATE OR REPLACE TABLE {side}_hashes AS SELECT {key}, unhex(sha256(to_json({side})::VARCHAR)) AS hash FROM {side}"
)
_SORTED_HASHES = "SELECT hash FROM {side}_hashes ORDER BY hash"
# A row that occurs twice is not equal to the same row once: copies are counted.
_DIFFERING = """
CREATE OR REPLACE TABLE differing AS
WITH rows_of_both AS (
    SELECT *, 1 AS here, 0 AS there FROM here_hashes UNION ALL BY NAME SELECT *, 0 AS here, 1 AS there FROM there_hashes
),
unequal AS (
    SELECT {key}, hash, sum(here) AS here, sum(there) AS there FROM rows_of_both
    GROUP BY {key}, hash HAVING sum(here) <> sum(there)
)
SELECT {key}, sum(here)::BIGINT AS here, sum(there)::BIGINT AS there FROM unequal GROUP BY {key}
"""
_FIRST_DIFFERING = "SELECT * FROM differing ORDER BY {key} LIMIT {limit}"
_IN_USE = "SELECT * FROM ({rows}) WHERE io_id IN (SELECT io_id FROM ({runs}) UNION SELECT io_id FROM ({events}))"
_ROW = "SELECT {columns} FROM {side} WHERE {condition} LIMIT 1"


@dataclass(frozen=True)
class RowDiff:
    """A key whose rows are not equal on both sides."""

    key: tuple[Any, ...]
    here: int
    there: int
    """How many rows of this key each side has that the other side does not have."""
    columns: tuple[str, ...]
    """The columns that differ, where both sides have such a row."""

    @property
    def description(self) -> str:
        """What differs, in words."""
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
    """How many keys differ."""
    rows: tuple[RowDiff, ...]
    """The first of them."""

    @property
    def is_same(self) -> bool:
        """Whether both sides have the table, with equal rows."""
        return self.hash_here is not None and self.hash_here == self.hash_there


def diff(here: Path, there: Path, spill: Path, names: Sequence[str] = (), limit: int = 10) -> Iterator[TableDiff]:
    """Compare the curated tables in two directories, one after the other."""
    for name in names:
        if name not in TABLES:
            raise TableNotFound(f"There is no curated table {name}.", suggest(name, TABLES))
    for directory in (here, there):
        if not any(is_table(directory / name) for name in TABLES):
            raise TableNotFound(f"There are no tables in {directory}.", "Name a directory of tables.")
    for table in TABLES.values():
        if table.name in names or not names:
            with bounded_duckdb(spill) as connection:
                yield _Comparison(connection, table, here, there).result(limit)


class _Comparison:
    """One table in two directories. DuckDB has a view and a table of hashes for each side, called here and there."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, table: TableContract, here: Path, there: Path) -> None:
        self._connection = connection
        self._table = table
        directories = {"here": here / table.name, "there": there / table.name}
        self._sides = {
            side: TableSnapshot(directory) if is_table(directory) else None for side, directory in directories.items()
        }
        existing = [snapshot.columns for snapshot in self._sides.values() if snapshot]
        # Of both sides: a table of an older release has fewer columns. At least the key, if no side has the table.
        self._columns = tuple(dict.fromkeys(column for columns in [*existing, table.key] for column in columns))
        self._key = ", ".join(map(identifier, table.key))

    def result(self, limit: int) -> TableDiff:
        (rows_here, hash_here), (rows_there, hash_there) = map(self._hash, ("here", "there"))
        self._connection.execute(_DIFFERING.format(key=self._key))
        [(differing,)] = self._connection.sql("SELECT count(*) FROM differing").fetchall()
        first = self._connection.sql(_FIRST_DIFFERING.format(key=self._key, limit=limit)).fetchall()
        rows = tuple(self._row_diff(tuple(key), here, there) for *key, here, there in first)
        return TableDiff(self._table.name, rows_here, rows_there, hash_here, hash_there, differing, rows)

    def _hash(self, side: str) -> tuple[int, str | None]:
        """The number of rows, and the hash of the table."""
        snapshot = self._sides[side]
        has = set(snapshot.columns) if snapshot else set()
        # Sorted by name, so that the hash does not depend on the order of columns.
        columns = ", ".join(
            identifier(name) if name in has else f"NULL::VARCHAR AS {identifier(name)}"
            for name in sorted(self._columns)
        )
        rows = self._rows(snapshot) if snapshot else "SELECT NULL WHERE false"
        self._connection.execute(_VIEW.format(side=side, columns=columns, rows=rows))
        self._connection.execute(_HASHES.format(side=side, key=self._key))
        total, count = hashlib.sha256(), 0
        for batch in batches(self._connection.sql(_SORTED_HASHES.format(side=side))):
            count += batch.num_rows
            total.update(b"".join(batch.column(0).to_pylist()))
        return count, total.hexdigest() if snapshot else None

    def _rows(self, snapshot: TableSnapshot) -> str:
        """The rows to compare. Of `job_io`, those in use: the others depend on how a run's events were split."""
        rows = snapshot.select(self._connection)
        if self._table != JOB_IO:
            return rows
        users = [TableSnapshot(snapshot.path.parent / user.name) for user in (RUNS, LINEAGE_EVENTS)]
        runs, events = (user.select(self._connection) for user in users)
        return _IN_USE.format(rows=rows, runs=runs, events=events)

    def _row_diff(self, key: tuple[Any, ...], here: int, there: int) -> RowDiff:
        differing: tuple[str, ...] = ()
        if here and there:
            values_here, values_there = (self._row_as_json(side, key) for side in ("here", "there"))
            pairs = zip(self._columns, values_here, values_there, strict=True)
            differing = tuple(column for column, value_here, value_there in pairs if value_here != value_there)
        return RowDiff(key, here, there, differing)

    def _row_as_json(self, side: str, key: tuple[Any, ...]) -> tuple[Any, ...]:
        condition = " AND ".join(
            f"{identifier(column)} IS NOT DISTINCT FROM {_key_literal(value)}"
            for column, value in zip(self._table.key, key, strict=True)
        )
        columns = ", ".join(f"to_json({identifier(name)})::VARCHAR" for name in self._columns)
        [row] = self._connection.sql(_ROW.format(columns=columns, side=side, condition=condition)).fetchall()
        return tuple(row)


def _key_literal(value: Any) -> str:
    return "NULL" if value is None else str(value) if isinstance(value, int) else literal(value)
