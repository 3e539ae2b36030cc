"""`job_io`: every combination of jobs, inputs and outputs that a run or a job event had, once.

Nearly all runs of a job read and write the same datasets. So this table is small, and it is only ever appended to: a
batch adds the combinations that are new. A row is as large as the events that state it: the edges between inputs and
outputs, of which there can be a thousand times as many, are made by views when a query asks for them.

A run whose events come in different batches leaves combinations behind that it no longer has: parts of the one it has
now. `runs.io_id` and `lineage_events.io_id` say which are in use.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.tables import JOB_IO
from lineproof.streaming.delta.key_ranges import prefix, text_ranges
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.graph import GraphBatch
from lineproof.streaming.stages.io_id import jobs_of_event, names, names_of_event
from lineproof.streaming.tables import runs

_NAMES = "ARRAY<STRUCT<namespace: STRING, name: STRING>>"

TABLE = Table(
    contract=JOB_IO,
    comment="Every combination of jobs, inputs and outputs that runs and job events have. Rows never change.",
    cluster_by=("io_id",),
    schema=(
        "io_id STRING NOT NULL COMMENT 'SHA-256 of the names of jobs, inputs and outputs'",
        f"jobs {_NAMES} COMMENT 'normally one'",
        f"inputs {_NAMES} COMMENT 'the datasets that they read, by the names in the events'",
        f"outputs {_NAMES} COMMENT 'the datasets that they write, by the names in the events'",
    ),
)


def write(batch: GraphBatch, writer: BatchWriter) -> None:
    """Add the batch's combinations that the table does not have.

    The inputs and outputs of a run can be in different events. So its combination is that of its row in `runs`, which
    has the datasets of all events so far.
    """
    touched = batch.events.where(F.col("kind") == "RUN").select("run_id")
    run_rows = writer.rows_of(runs.TABLE, touched, batch.run_ids)
    # First the ids alone, because there is seldom a new one, and then no names need be read. Checkpointed, because
    # curate writes to `runs` at the same time: the next step must find what this one found.
    of_batch = run_rows.select("io_id").union(batch.events.select("io_id")).where(F.col("io_id").isNotNull())
    stated = of_batch.distinct().localCheckpoint()
    prefixes = [row[0] for row in stated.select(prefix(F.col("io_id"))).distinct().collect()]
    read = writer.read(TABLE).where(text_ranges("io_id", prefixes).condition()).select("io_id")
    known = read.join(F.broadcast(stated), "io_id", "left_semi")
    missing = stated.join(known, "io_id", "left_anti").localCheckpoint()
    if not missing.isEmpty():
        writer.append(TABLE, combinations(run_rows, batch.events).join(F.broadcast(missing), "io_id", "left_semi"))


def combinations(run_rows: DataFrame, events: DataFrame) -> DataFrame:
    """Rows of `job_io` from rows of `runs` and from job events."""
    of_runs = run_rows.select(
        "io_id", "jobs", names(F.col("inputs")).alias("inputs"), names(F.col("outputs")).alias("outputs")
    )
    of_job_events = events.where(F.col("kind") == "JOB").select(
        "io_id",
        jobs_of_event().alias("jobs"),
        names_of_event("inputs").alias("inputs"),
        names_of_event("outputs").alias("outputs"),
    )
    stated = of_runs.unionByName(of_job_events).where(F.col("io_id").isNotNull())
    combination = F.any_value(F.struct("jobs", "inputs", "outputs")).alias("combination")
    return stated.groupBy("io_id").agg(combination).select("io_id", "combination.*")
