"""Read Delta tables without Spark: deltalake lists the files of a table, and DuckDB reads them.

Every command reads tables through this module, so all of them refuse the same tables and keep the same memory limit.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pyarrow
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from lineproof.schemas.errors import LineproofError, TableNotFound
from lineproof.schemas.table_format import refuse_newer

MEMORY_LIMIT = "1GB"
"""The memory limit of one DuckDB connection. Data beyond it goes to disk."""
ROWS_PER_BATCH = 10_000

_HARMLESS_FEATURES = {"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
"""Reader features that leave a table the union of the rows in its files. Deletion vectors and column mapping do not."""
_COLUMN_MAPPING_VERSION = 2
"""The reader version that stands for column mapping, from before Delta had named features."""


class UnreadableTable(LineproofError):
    """The table is not on this machine, or uses a Delta feature that is not supported here."""


@dataclass(frozen=True)
class TableFile:
    """A Parquet file of a table, with the statistics that Delta keeps of it."""

    path: str
    rows: int
    bytes: int
    ranges: dict[str, tuple[Any, Any]]
    """Minimum and maximum, of the columns that have statistics."""

    def range_of(self, column: str, default: tuple[Any, Any]) -> tuple[Any, Any]:
        """Minimum and maximum of a column, or `default` where they are not known."""
        minimum, maximum = self.ranges.get(column, (None, None))
        return default if minimum is None or maximum is None else (minimum, maximum)


class TableSnapshot:
    """One version of a table, the newest if none is named: its columns and its files."""

    def __init__(self, path: Path, version: int | None = None) -> None:
        self.path = path
        try:
            self._table = DeltaTable(str(path), version)
        except TableNotFoundError as error:
            raise TableNotFound(f"There is no table {path}.", "Name the directory of its tables.") from error
        refuse_newer(str(path), self._table.metadata().configuration)
        self._refuse_unsupported_features()

    @property
    def name(self) -> str:
        """The table's name, which is that of its directory."""
        return self.path.name

    @property
    def version(self) -> int:
        """The number of its commit."""
        return self._table.version()

    def is_newest(self) -> bool:
        """Whether no commit has followed."""
        return not (self.path / "_delta_log" / f"{self.version + 1:020}.json").exists()

    @property
    def description(self) -> str:
        """The table's comment."""
        return self._table.metadata().description or ""

    @cached_property
    def columns(self) -> list[str]:
        """The names of all columns, in the order of the schema."""
        return [field.name for field in self._table.schema().fields]

    @cached_property
    def files(self) -> list[TableFile]:
        """The files that hold the rows of this version."""
        return [
            TableFile(
                str(self.path / unquote(action["path"])),
                action["num_records"],
                action["size_bytes"],
                {
                    name.removeprefix("min."): (action[name], action[f"max.{name[4:]}"])
                    for name in action
                    if name.startswith("min.")
                },
            )
            for action in pyarrow.table(self._table.get_add_actions(flatten=True)).to_pylist()
        ]

    def select(self, connection: duckdb.DuckDBPyConnection, files: Sequence[TableFile] | None = None) -> str:
        """SQL for all rows, or for those in some of the files.

        DuckDB reads the files itself, so a condition on the result skips files and row groups. The SQL begins with an
        empty relation of all columns, because a file may be older than the newest column, and a table may have no file.
        """
        empty = connection.from_arrow(pyarrow.schema(self._table.schema()).empty_table())
        types = dict(zip(empty.columns, map(str, empty.types), strict=True))
        columns = ", ".join(f"NULL::{type_} AS {identifier(column)}" for column, type_ in types.items())
        no_rows = f"SELECT {columns} WHERE false"
        paths = ", ".join(literal(file.path) for file in (self.files if files is None else files))
        if not paths:
            return no_rows
        partitions = self._table.metadata().partition_columns
        in_paths = ", ".join(f"{identifier(column)}: {literal(types[column])}" for column in partitions)
        hive = f"true, hive_types := {{{in_paths}}}" if partitions else "false"
        parquet = f"read_parquet([{paths}], union_by_name := true, hive_partitioning := {hive})"
        return f"{no_rows} UNION ALL BY NAME FROM {parquet}"

    def _refuse_unsupported_features(self) -> None:
        protocol = self._table.protocol()
        unsupported = set(protocol.reader_features or ()) - _HARMLESS_FEATURES
        if protocol.min_reader_version == _COLUMN_MAPPING_VERSION:
            unsupported.add("columnMapping")
        if unsupported:
            raise UnreadableTable(
                f"The table {self.name} uses a Delta feature that lineproof reads only with Spark: "
                f"{', '.join(sorted(unsupported))}.",
                "Use Spark SQL for it, or switch the feature off: for deletion vectors, set "
                "delta.enableDeletionVectors to false, REORG TABLE … APPLY (PURGE), and ALTER TABLE … DROP FEATURE "
                "deletionVectors.",
            )


def local_directory(location: str) -> Path:
    """The directory of the tables. A location that is not on this machine is refused."""
    if "://" in location:
        raise UnreadableTable(
            f"The tables at {location} are not on this machine, so they cannot be read without Spark.",
            "Use Spark SQL or another Delta reader. Or copy them, or run this where they are a directory.",
        )
    return Path(location)


def is_table(path: Path) -> bool:
    """Whether a Delta table is in this directory."""
    return (path / "_delta_log").is_dir()


@contextmanager
def bounded_duckdb(spill: Path | None = None, *, in_order: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection with a memory limit. What does not fit goes to disk, below `spill` or the system's directory.

    With `in_order`, a query without ORDER BY returns rows in the order of the files, which takes more memory.
    """
    if spill:
        spill.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="spill-", dir=spill) as directory:
        connection = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "memory_limit": MEMORY_LIMIT,
                "temp_directory": directory,
                "preserve_insertion_order": str(in_order).lower(),
            }
        )
        try:
            connection.execute("SET TimeZone = 'UTC'")
            yield connection
        finally:
            connection.close()


def batches(relation: duckdb.DuckDBPyRelation, size: int = ROWS_PER_BATCH) -> Iterator[pyarrow.RecordBatch]:
    """The rows of a query as they are read. By Arrow: DuckDB's own rows need another library for times with a zone."""
    try:
        yield from relation.to_arrow_reader(size)
    except OSError as error:  # how Arrow passes on an error of DuckDB
        raise duckdb.Error(str(error)) from error


def rows(relation: duckdb.DuckDBPyRelation) -> Iterator[tuple[Any, ...]]:
    """The same as Python tuples."""
    for batch in batches(relation):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def literal(value: object) -> str:
    """A text as a SQL literal."""
    return "'{}'".format(str(value).replace("'", "''"))


def identifier(name: str) -> str:
    """A name as a SQL identifier."""
    return '"{}"'.format(name.replace('"', '""'))
