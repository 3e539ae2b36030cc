"""SQL over the Delta tables, without Spark: DuckDB reads what deltalake finds."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from lineproof.schemas.errors import LineproofError
from lineproof.streaming.formats import refuse_newer
from lineproof.streaming.views import FUNCTIONS, VIEWS, for_duckdb, named_in, view_sql


class QueryError(LineproofError):
    """The query cannot be answered."""


@dataclass(frozen=True)
class Result:
    """Names and rows, as they came."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


def texts_of(sql: str) -> str:
    """The query, and those of all views that it is made of."""
    return "\n".join([sql, *(view_sql(name) for name in named_in(sql) if name in VIEWS)]).lower()


class Tables:
    """The Delta tables below one local directory."""

    def __init__(self, root: str) -> None:
        self._location = root
        self._root = Path(root)

    def _names(self) -> list[str]:
        """What there is, in order."""
        if not self._root.is_dir():
            return []
        return sorted(path.name for path in self._root.iterdir() if (path / "_delta_log").is_dir())

    def _open(self, names: list[str]) -> Iterator[tuple[str, DeltaTable]]:
        for name in names:
            path = str(self._root / name)
            try:
                table = DeltaTable(path)
            except TableNotFoundError:
                # A table's directory exists a moment before its first commit.
                continue
            refuse_newer(path, table.metadata().configuration)
            yield name, table

    def overview(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        """A row per table."""
        rows = []
        for name, table in self._open(self._names()):
            files = pyarrow.table(table.get_add_actions(flatten=True))
            sizes, counts = files["size_bytes"].to_pylist(), files["num_records"].to_pylist()
            rows.append(
                (
                    name,
                    sum(counts),
                    len(sizes),
                    sum(sizes),
                    table.version(),
                    str(self._root / name),
                    table.metadata().description or "",
                )
            )
        return ["table", "rows", "files", "bytes", "version", "path", "comment"], rows

    def query(self, sql: str, *parameters: object) -> Result:
        """Run one query. JSON functions reach into the `event` column: event->>'$.run.facets.…'."""
        tables = self._names()
        if "://" in self._location:
            raise QueryError(
                f"The tables at {self._location} are not on this machine; `lineproof sql` reads only those that are.",
                "Use Spark SQL, or any other Delta reader, where they are.",
            )
        if not tables:
            raise QueryError(
                f"There are no tables in {self._root}.",
                "Run `lineproof demo`, or `lineproof job`, or name their place with --set tables=DIRECTORY.",
            )
        connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
        try:
            connection.execute("SET TimeZone = 'UTC'")
            # To open a table takes longer than most queries: only what the query may look at, unless it names none.
            named = texts_of(sql)
            for name, table in self._open([name for name in tables if name in named] or tables):
                connection.register(name, table.to_pyarrow_dataset())
            for statement in for_duckdb(sql):
                connection.execute(statement)
            # By Arrow, because DuckDB's own rows need another library for times with a zone.
            relation = connection.sql(sql, params=list(parameters))
            if relation is None:
                return Result([], [])
            answer = relation.to_arrow_table()
            return Result(answer.column_names, list(zip(*(one.to_pylist() for one in answer.columns), strict=True)))
        except duckdb.Error as error:
            raise QueryError(
                f"The query failed: {str(error).strip()}",
                f"The tables are {', '.join(tables)}; the views {', '.join(VIEWS)}; "
                f"the functions {', '.join(FUNCTIONS)}, each of (namespace, name).",
            ) from error
        finally:
            connection.close()
