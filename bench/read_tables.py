"""Large tables for benchmarks of the read side: a million runs and a graph of 100,000 edges, made in a minute.

DuckDB makes the rows and deltalake writes them, without Spark. The same sizes give the same tables. The columns are
those of the job's own definitions; those that no benchmark needs are null.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import duckdb
from deltalake import write_deltalake

from lineproof.bench.read_tables_sql import DEPTH, JOBS, PARENTS, QUERIES, SETUP
from lineproof.serving.delta_reader import bounded_duckdb, identifier
from lineproof.streaming.delta.table import Table
from lineproof.streaming.tables.registry import TABLES

_FILE_BYTES = 32 * 2**20
"""Of one Parquet file: large tables have several, as compaction leaves them."""
_ROWS_PER_BATCH = 50_000
_TYPES = {"STRING": "VARCHAR", "BINARY": "BLOB", "TIMESTAMP": "TIMESTAMPTZ"}

Name = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True)
class ReadTables:
    """The tables, and names in them to query for."""

    path: Path
    job: Name
    """The job that runs most often."""
    run_id: str
    """A run in the middle."""
    first_dataset: Name
    """The start of the graph."""
    last_dataset: Name
    """The end of the graph, `DEPTH` datasets further."""


def make_read_tables(directory: Path, runs: int = 1_000_000, edges: int = 100_000) -> ReadTables:
    """Write all tables of the job into the directory, with so many runs and so many edges between datasets."""
    sizes = {"runs": runs, "steps": edges // PARENTS, "width": edges // PARENTS // DEPTH, "jobs": JOBS, "depth": DEPTH}
    if min(sizes.values()) < 1:
        raise ValueError(f"There must be a run at least, and {PARENTS * DEPTH} edges.")
    with bounded_duckdb(directory, in_order=True) as connection:
        for name, value in sizes.items():
            connection.execute(f"SET VARIABLE {name} = {value}")
        for statement in SETUP:
            connection.execute(statement)
        for table in TABLES:
            _write(connection, directory, table)
        return _described(connection, directory)


def _write(connection: duckdb.DuckDBPyConnection, directory: Path, table: Table) -> None:
    """Write one table. Columns that its query does not have are null."""
    query = QUERIES.get(table.name, "SELECT 1 WHERE false")
    stated = set(connection.sql(query).columns)
    columns = ", ".join(
        f"CAST({identifier(name) if name in stated else 'NULL'} AS {type_}) AS {identifier(name)}"
        for name, type_ in map(_column, table.schema)
    )
    rows = connection.sql(f"SELECT {columns} FROM ({query})")  # noqa: S608
    write_deltalake(
        directory / table.name,
        rows.to_arrow_reader(_ROWS_PER_BATCH),
        partition_by=list(table.partition_by) or None,
        target_file_size=_FILE_BYTES,
    )


def _column(definition: str) -> tuple[str, str]:
    """Name and DuckDB type of a column that is defined in Spark's SQL."""
    name, type_ = definition.partition(" COMMENT '")[0].removesuffix(" NOT NULL").split(" ", 1)
    for spark, ours in _TYPES.items():
        type_ = re.sub(rf"\b{spark}\b", ours, type_)
    type_ = re.sub(r"(\w+): ", r'"\1" ', type_)
    while "<" in type_:  # from the inside out
        type_ = re.sub(r"ARRAY<([^<>]*)>", r"\1[]", type_)
        type_ = re.sub(r"STRUCT<([^<>]*)>", r"STRUCT(\1)", type_)
    return name, type_


def _described(connection: duckdb.DuckDBPyConnection, directory: Path) -> ReadTables:
    names = connection.sql(
        """
        SELECT run_id, job_of(0) AS job, dataset_of(0, 0) AS first, dataset_of(getvariable('depth'), 0) AS last
        FROM made_runs
        WHERE n = getvariable('runs') // 2
        """
    )
    [row] = names.to_arrow_table().to_pylist()
    job, first, last = ((row[key]["namespace"], row[key]["name"]) for key in ("job", "first", "last"))
    return ReadTables(directory, job, row["run_id"], first, last)
