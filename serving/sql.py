"""SQL over the tables, the views and the lineage functions, without Spark."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from lineproof.schemas.errors import LineproofError, TableNotFound
from lineproof.schemas.views import FUNCTIONS, VIEWS, for_duckdb, named_in, view_sql
from lineproof.serving.delta_reader import TableSnapshot, bounded_duckdb, identifier, is_table, local_directory, rows

OVERVIEW_COLUMNS = ["table", "rows", "files", "bytes", "version", "path", "comment"]


class QueryError(LineproofError):
    """The query failed, or there are no tables to query."""


@dataclass(frozen=True)
class Result:
    """The whole answer to a query."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class StreamedResult:
    """The answer to a query whose rows are read as they are iterated, once."""

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]


class Tables:
    """The Delta tables in one local directory. Queries that need more memory than the limit spill to disk."""

    def __init__(self, location: str, spill: Path | None = None) -> None:
        self._location = location
        self._root = Path(location)
        self._spill = spill

    def overview(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Column names, and a row per table."""
        return OVERVIEW_COLUMNS, [
            (
                table.name,
                sum(file.rows for file in table.files),
                len(table.files),
                sum(file.bytes for file in table.files),
                table.version,
                str(table.path),
                table.description,
            )
            for table in self._open(self._names())
        ]

    def query(self, sql: str, *parameters: object) -> Result:
        """Run one query and return all of its rows, for answers that fit into memory."""
        with self.stream(sql, *parameters) as result:
            return Result(result.columns, list(result.rows))

    @contextmanager
    def stream(self, sql: str, *parameters: object) -> Iterator[StreamedResult]:
        """Run one query; its rows are read while the context is open.

        JSON functions reach into the `event` column: event->>'$.run.facets.…'.
        """
        local_directory(self._location)
        names = self._names()
        if not names:
            raise QueryError(
                f"There are no tables in {self._root}.",
                "Run `lineproof demo`, or `lineproof job`, or name their place with --set tables=DIRECTORY.",
            )
        with bounded_duckdb(self._spill, in_order=True) as connection:
            try:
                # Opening a table takes longer than most queries: open only those that the query names, if it names any.
                words = {*re.findall(r"\w+", with_views(sql))}
                for table in self._open([name for name in names if name in words] or names):
                    connection.execute(f"CREATE VIEW {identifier(table.name)} AS {table.select(connection)}")
                for statement in for_duckdb(sql):
                    connection.execute(statement)
                relation = connection.sql(sql, params=list(parameters))
                # Statements such as SET have no result. Not `if relation`: that would run the query.
                has_rows = relation is not None
                yield StreamedResult(relation.columns if has_rows else [], rows(relation) if has_rows else iter(()))
            except duckdb.Error as error:
                raise QueryError(
                    f"The query failed: {str(error).strip()}",
                    f"The tables are {', '.join(names)}; the views {', '.join(VIEWS)}; "
                    f"the functions {', '.join(FUNCTIONS)}, each of (namespace, name).",
                ) from error

    def _names(self) -> list[str]:
        if not self._root.is_dir():
            return []
        return sorted(path.name for path in self._root.iterdir() if is_table(path))

    def _open(self, names: list[str]) -> Iterator[TableSnapshot]:
        for name in names:
            try:
                table = TableSnapshot(self._root / name)
            except TableNotFound:
                continue  # a table's directory exists a moment before its first commit
            yield table


def with_views(sql: str) -> str:
    """The query and the queries of all views that it is made of, in lower case."""
    return "\n".join([sql, *(view_sql(name) for name in named_in(sql) if name in VIEWS)]).lower()
