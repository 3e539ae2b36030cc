"""Tables as curate makes them, without a topic."""

from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from typing import Any

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from lineproof.schemas.views import for_spark, named_in
from lineproof.streaming.delta.store import Store
from lineproof.streaming.job import TABLES, side_by_side, write_curated, write_graph
from lineproof.streaming.stages.batch import Batch, batch_of
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.stages.graph import graph_batch_of
from lineproof.streaming.tables import archive, lineage_events
from tests.streaming.records import Headers, records

Batches = Sequence[Sequence[bytes | None]]
Told = Callable[[Batch, DataFrame | None, Store], None]
"""What is called once the tables of a batch are written, with the rows of `runs` that it touched."""


def curated(
    spark: SparkSession,
    root: str,
    batches: Batches,
    repeated: int | None = None,
    headers: Headers | None = None,
    told: Told = lambda *_: None,
) -> Store:
    """Tables fed batch by batch, as the job does it; one of them twice, as after a crash before its checkpoint.

    The graph is brought up to date after every second batch, and after the last.
    """
    store = Store(spark, root)
    side_by_side(spark, store.create, TABLES)
    offset = 0
    in_graph = _version(store)
    for number, values in enumerate(batches):
        for _ in range(2 if number == repeated else 1):
            curate(spark, root, number, values, offset, headers, told)
            if number % 2 or number == len(batches) - 1:
                with graph_batch_of(_added_since(in_graph, store)) as graph_batch:
                    write_graph(spark, graph_batch, Store(spark, root, "graph", number))
        offset += len(values)
        if number % 2:
            in_graph = _version(store)
    return store


def curate(
    spark: SparkSession,
    root: str,
    number: int,
    values: Sequence[bytes | None],
    offset: int,
    headers: Headers | None = None,
    told: Told = lambda *_: None,
) -> None:
    """One batch, from the topic to the tables of events and runs."""
    arrived = archive.archive(records(spark, values, offset, headers))
    Store(spark, root, "ingest", number).append(archive.TABLE, arrived)
    in_archive = Store(spark, root).read(archive.TABLE).where(f"offset >= {offset}")
    # As a stream gives them to a batch: rows, and not the plan they come from. Of that, Spark computes the options of
    # from_avro anew whenever it compares plans, and three tables written at a time once met in there.
    found = facts(in_archive, {}).localCheckpoint(eager=False)
    with batch_of(found, in_archive) as batch:
        store = Store(spark, root, "curate", number)
        told(batch, write_curated(spark, batch, store), store)


def _version(store: Store) -> int:
    return int(DeltaTable(store.path(lineage_events.TABLE)).version())


def _added_since(version: int, store: Store) -> DataFrame:
    events = store.read(lineage_events.TABLE)
    path = store.path(lineage_events.TABLE)
    known = events.sparkSession.read.format("delta").option("versionAsOf", version).load(path)
    return events.join(known.select("event_id"), "event_id", "left_anti")


def asked(spark: SparkSession, store: Store, *queries: str) -> list[DataFrame]:
    """The answers of the tables and views, by Spark. They are opened once for all queries."""
    for table in TABLES:
        store.read(table).createOrReplaceTempView(table.name)
    for statement in for_spark(sorted(named_in(" ".join(queries))), temporary=True):
        spark.sql(statement)
    return list(map(spark.sql, queries))


def in_utc(value: Any) -> Any:
    """PySpark gives times without a zone, in that of the machine."""
    if isinstance(value, dict):
        return {name: in_utc(member) for name, member in value.items()}
    if isinstance(value, list):
        return list(map(in_utc, value))
    return value.astimezone(timezone.utc) if isinstance(value, datetime) else value
