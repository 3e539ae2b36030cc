"""SQLite as a stand-in for the platform's PostgreSQL."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from lineproof.producers.pipelines.data import Dataset, Rows

LOCK_TIMEOUT_S = 0.1


class Database:
    """A SQLite file. Table and column names come from code, so they are not escaped in SQL."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def create(self, tables: Sequence[Dataset]) -> None:
        """Create missing tables."""
        with self._transaction() as connection:
            for table in tables:
                columns = ", ".join(f"{name} {kind}" for name, (kind, _) in table.schema.items())
                keys = ", ".join(table.keys)
                connection.execute(f"CREATE TABLE IF NOT EXISTS {table.name.name} ({columns}, PRIMARY KEY ({keys}))")

    def read(self, table: Dataset) -> list[dict[str, Any]]:
        """All rows, ordered by key."""
        return self.query(f"SELECT * FROM {table.name.name} ORDER BY {', '.join(table.keys)}")  # noqa: S608

    def query(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a query."""
        with self._transaction() as connection:
            return [dict(row) for row in connection.execute(sql)]

    def write(self, table: Dataset, rows: Rows) -> None:
        """Upsert rows by key, so that a rerun writes no duplicates."""
        columns = list(table.schema)
        marks = ", ".join("?" for _ in columns)
        statement = f"INSERT OR REPLACE INTO {table.name.name} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
        with self._transaction() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(statement, [[row[name] for name in columns] for row in rows])

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a write transaction of another session open: others can only read."""
        with closing(sqlite3.connect(self.file, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.file, timeout=LOCK_TIMEOUT_S)) as connection, connection:
            connection.row_factory = sqlite3.Row
            yield connection
