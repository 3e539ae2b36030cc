"""Delta tables of any size, read without Spark in little memory: DuckDB over the files that deltalake names.

`lineproof sql` asks small questions, and hands over whole answers. Here, rows are handed on as they are read, and what
does not fit into memory goes to disk.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pyarrow
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from lineproof.schemas.errors import LineproofError

MEMORY = "1GB"
_CHANGE_WHAT_FILES_SAY = {"deletionVectors", "columnMapping"}
"""Features of Delta by which a table is not just the rows of its files. No table of ours has one."""


class NoTable(LineproofError):
    """There is no table, or none that can be read so."""


@dataclass(frozen=True)
class DataFile:
    """A file of a table, and the ranges of those columns for which the table keeps them."""

    path: str
    ranges: dict[str, tuple[Any, Any]]

    def range_of(self, column: str, unknown: tuple[Any, Any]) -> tuple[Any, Any]:
        """The least and the greatest value."""
        least, greatest = self.ranges.get(column, (None, None))
        return unknown if least is None or greatest is None else (least, greatest)


def on_this_machine(location: str) -> Path:
    """A directory of tables; refused where it is elsewhere."""
    if "://" in location:
        raise NoTable(
            f"The tables at {location} are not on this machine, so they cannot be read without Spark.",
            "Copy them, or run this where they are a directory.",
        )
    return Path(location)


def is_table(location: Path) -> bool:
    """Whether a Delta table is there."""
    return (location / "_delta_log").is_dir()


def files_of(location: Path) -> list[DataFile]:
    """The files that the table is made of now."""
    try:
        table = DeltaTable(str(location))
    except TableNotFoundError as error:
        raise NoTable(f"There is no table {location}.", "Name the directory of its tables.") from error
    if unreadable := _CHANGE_WHAT_FILES_SAY & set(table.protocol().reader_features or ()):
        raise NoTable(
            f"The table {location} uses {', '.join(sorted(unreadable))}, which is not read here.",
            "Switch that off, and run REORG TABLE … APPLY (PURGE) on it with Spark.",
        )
    rows = pyarrow.table(table.get_add_actions(flatten=True)).to_pylist()
    return [
        DataFile(
            str(location / unquote(row["path"])),
            {name.removeprefix("min."): (row[name], row[f"max.{name[4:]}"]) for name in row if name.startswith("min.")},
        )
        for row in rows
    ]


def rows_sql(files: Sequence[DataFile], otherwise: str) -> str:
    """The rows of these files, as a FROM clause has it. Without files, `otherwise` names the columns."""
    if not files:
        return f"(SELECT {otherwise} WHERE false)"
    return f"read_parquet([{', '.join(map(quoted, (one.path for one in files)))}], union_by_name = true)"


def quoted(text: object) -> str:
    """A text as SQL has it."""
    return "'" + str(text).replace("'", "''") + "'"


@contextmanager
def bounded_duckdb(home: Path) -> Iterator[Any]:
    """A connection that uses little memory, and else a directory below this one."""
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="spill-", dir=home) as spill:
        connection = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "memory_limit": MEMORY,
                "temp_directory": spill,
                "preserve_insertion_order": "false",
            }
        )
        try:
            connection.execute("SET TimeZone = 'UTC'")
            yield connection
        finally:
            connection.close()
