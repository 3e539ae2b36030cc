"""Tables as curate and graph write them, without a topic."""

from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from typing import Any

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from lineproof.schemas.limits import DEFAULT_LIMITS, Limits
from lineproof.schemas.principals import NO_PRINCIPALS, Principals
from lineproof.schemas.views import for_spark, named_in
from lineproof.streaming.curate import write_curated, write_graph
from lineproof.streaming.delta.definition import create_table
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.parallel import in_parallel
from lineproof.streaming.stages.batch import Batch, open_batch
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.stages.graph import open_graph_batch
from lineproof.streaming.tables import archive, lineage_events
from lineproof.streaming.tables.registry import TABLES
from tests.streaming.records import TIME, Headers, records

Batches = Sequence[Sequence[bytes | None]]
OnBatch = Callable[[Batch, DataFrame | None, TableReader], None]
"""Called once the tables of a batch are written, with the rows of `runs` that it changed."""


def create_tables(spark: SparkSession, root: str) -> TableReader:
    """All tables, empty."""
    tables = TableReader(spark, root)
    in_parallel(spark, lambda table: create_table(spark, tables.path(table), table), TABLES)
    return tables


def curated(
    spark: SparkSession,
    root: str,
    batches: Batches,
    repeated: int | None = None,
    headers: Headers | None = None,
    on_batch: OnBatch = lambda *_: None,
    limits: Limits = DEFAULT_LIMITS,
) -> TableReader:
    """Tables written batch by batch, as the job does it; one batch twice, as after a crash before its checkpoint.

    Graph runs after every second batch, and after the last.
    """
    tables = create_tables(spark, root)
    offset = 0
    in_graph = _version(tables)
    for number, values in enumerate(batches):
        for _ in range(2 if number == repeated else 1):
            curate(spark, root, number, values, offset, headers, on_batch, limits)
            if number % 2 or number == len(batches) - 1:
                with open_graph_batch(_added_since(in_graph, tables), limits) as graph_batch:
                    write_graph(spark, graph_batch, BatchWriter(spark, root, "graph", number))
        offset += len(values)
        if number % 2:
            in_graph = _version(tables)
    return tables


def curate(
    spark: SparkSession,
    root: str,
    number: int,
    values: Sequence[bytes | None],
    offset: int,
    headers: Headers | None = None,
    on_batch: OnBatch = lambda *_: None,
    limits: Limits = DEFAULT_LIMITS,
    principals: Principals = NO_PRINCIPALS,
    time: datetime = TIME,
) -> None:
    """One batch, from the topic to the tables of events and runs."""
    arrived = archive.archive(records(spark, values, offset, headers, time))
    BatchWriter(spark, root, "ingest", number).append(archive.TABLE, arrived)
    in_archive = TableReader(spark, root).read(archive.TABLE).where(f"offset >= {offset}")
    # A stream gives a batch rows, and not the plan that made them. With the plan, Spark computes the options of
    # from_avro again whenever it compares plans, and three tables written in parallel once ran into each other there.
    found = facts(in_archive, {}, limits, principals).localCheckpoint(eager=False)
    with open_batch(found, limits) as batch:
        writer = BatchWriter(spark, root, "curate", number)
        on_batch(batch, write_curated(spark, batch, writer), writer)


def _version(tables: TableReader) -> int:
    return int(DeltaTable(tables.path(lineage_events.TABLE)).version())


def _added_since(version: int, tables: TableReader) -> DataFrame:
    events = tables.read(lineage_events.TABLE)
    path = tables.path(lineage_events.TABLE)
    known = events.sparkSession.read.format("delta").option("versionAsOf", version).load(path)
    return events.join(known.select("event_id"), "event_id", "left_anti")


def run_sql(spark: SparkSession, tables: TableReader, *queries: str) -> list[DataFrame]:
    """The results of SQL queries on tables and views, by Spark. The tables are opened once for all queries."""
    for table in TABLES:
        tables.read(table).createOrReplaceTempView(table.name)
    for statement in for_spark(sorted(named_in(" ".join(queries))), temporary=True):
        spark.sql(statement)
    return list(map(spark.sql, queries))


def in_utc(value: Any) -> Any:
    """PySpark returns times without a zone, in the zone of the machine."""
    if isinstance(value, dict):
        return {name: in_utc(member) for name, member in value.items()}
    if isinstance(value, list):
        return list(map(in_utc, value))
    return value.astimezone(timezone.utc) if isinstance(value, datetime) else value
