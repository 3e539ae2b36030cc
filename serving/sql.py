"""SQL over the Delta tables, without Spark: DuckDB reads what deltalake finds."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import duckdb
import pyarrow
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from lineproof.schemas.errors import LineproofError
from lineproof.schemas.table_format import refuse_newer
from lineproof.schemas.views import FUNCTIONS, VIEWS, for_duckdb, named_in, view_sql


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
            _refuse_features(name, table)
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
                connection.execute(_view_of(connection, name, table))
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


def _refuse_features(name: str, table: DeltaTable) -> None:
    """A table is its files, unless a feature of Delta says otherwise, as deletion vectors do. Ours have none."""
    protocol = table.protocol()
    if protocol.min_reader_version > 1:
        features = ", ".join(protocol.reader_features or ["column mapping"])
        raise QueryError(
            f"The table {name} has what `lineproof sql` does not read: {features}.",
            "Use Spark SQL for it, or switch that off: for deletion vectors, set delta.enableDeletionVectors to false, "
            "REORG TABLE … APPLY (PURGE), and ALTER TABLE … DROP FEATURE deletionVectors.",
        )


def _view_of(connection: duckdb.DuckDBPyConnection, name: str, table: DeltaTable) -> str:
    """Over its files, by DuckDB's own reader: it passes over what a condition excludes before it reads the rest.

    Before them, no rows of all columns: files may be older than the last of the columns, or there may be none.
    """
    nothing = connection.from_arrow(pyarrow.schema(table.schema()).empty_table())
    types = dict(zip(nothing.columns, nothing.types, strict=True))
    columns = ", ".join(f"NULL::{type_} AS {_quoted(column)}" for column, type_ in types.items())
    view = f"CREATE VIEW {_quoted(name)} AS SELECT {columns} WHERE false"
    place = urlsplit(table.table_uri).path  # encoded; what is below it is as the files are called
    files = ", ".join(_text(unquote(place) + uri.removeprefix(place)) for uri in table.file_uris())
    if not files:
        return view
    partitions = table.metadata().partition_columns
    in_paths = ", ".join(f"{_quoted(column)}: {_text(str(types[column]))}" for column in partitions)
    hive = f"hive_partitioning := true, hive_types := {{{in_paths}}}" if partitions else "hive_partitioning := false"
    return f"{view} UNION ALL BY NAME FROM read_parquet([{files}], union_by_name := true, {hive})"


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def _text(value: str) -> str:
    return "'{}'".format(value.replace("'", "''"))
