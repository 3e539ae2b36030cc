"""How many files the tables have, batch after batch, with maintenance as often as in the running job."""

import json
from collections.abc import Iterator
from datetime import timedelta

from deltalake import DeltaTable
from pyspark.sql import SparkSession

from lineproof.streaming.curate import write_graph
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.graph import open_graph_batch
from lineproof.streaming.tables import lineage_events
from lineproof.streaming.tables.registry import TABLES
from lineproof.streaming.upkeep.maintenance import Maintenance
from tests.events import document
from tests.streaming.curated import create_tables, curate

GRAPH_EVERY = 6
"""Batches of curate per batch of graph, as with the default triggers."""

Counts = dict[str, int]


def file_counts(
    spark: SparkSession, root: str, batches: int, compact_every: int | None
) -> Iterator[tuple[int, bool, Counts]]:
    """The number of each batch, whether the tables were just compacted, and the files of each table.

    Every batch starts a run and completes the run of the batch before: new rows and merged rows in `runs`.
    """
    tables = create_tables(spark, root)
    yield 0, False, files_of(root)
    for number in range(batches):
        curate(spark, root, number, [event(number, "START"), event(number - 1, "COMPLETE"), b"{"], 3 * number)
        if number % GRAPH_EVERY == GRAPH_EVERY - 1:
            first = max(0, number - GRAPH_EVERY)
            added = tables.read(lineage_events.TABLE).where(f"job_name >= '{job(first)}'")
            with open_graph_batch(added) as batch:
                write_graph(spark, batch, BatchWriter(spark, root, "graph", number))
        yield number + 1, False, files_of(root)
        if compact_every and number % compact_every == compact_every - 1:
            Maintenance(spark, root, f"{root}-none", {}, timedelta(days=7)).run(("compact",))
            yield number + 1, True, files_of(root)


def files_of(root: str) -> Counts:
    """The number of files of each table, as its log says."""
    return {table.name: len(DeltaTable(f"{root}/{table.name}").file_uris()) for table in TABLES}


def job(number: int) -> str:
    return f"job-{number:05}"


def event(number: int, kind: str) -> bytes:
    return json.dumps(
        document(
            eventType=kind,
            eventTime=f"2026-01-31T{10 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
            run={"runId": f"01890000-0000-7000-8000-{number + 1:012}"},
            job={"namespace": "files", "name": job(number)},
            inputs=[{"namespace": "files", "name": f"source-{number % 5}"}],
            outputs=[{"namespace": "files", "name": "target"}],
        )
    ).encode()
