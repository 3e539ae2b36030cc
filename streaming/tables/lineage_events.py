"""`lineage_events`: every distinct event once, with the whole of its JSON.

An event is its payload: two records with the same bytes have the same `event_id` and are one event. Every
column is a function of the payload, so that it does not matter which copy came first.
"""

from pyspark.sql import Window
from pyspark.sql import functions as F

from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.stages.batch import Batch
from lineproof.streaming.tables.archive import COORDINATES

_DATASETS = "ARRAY<STRUCT<namespace: STRING, name: STRING, row_count: BIGINT, size: BIGINT, facets_hash: BIGINT>>"

TABLE = Table(
    name="lineage_events",
    comment="Every distinct event once, with the whole of its JSON.",
    key=("event_id",),
    cluster_by=("event_time", "job_name", "run_id"),
    kept_by="event_time",
    constraints={"known_kind": "kind IN ('RUN', 'DATASET', 'JOB')"},
    schema=(
        "event_id STRING NOT NULL COMMENT 'UUIDv8 over the SHA-256 of the event'",
        "event_time TIMESTAMP COMMENT 'eventTime of the event'",
        "kind STRING COMMENT 'RUN, DATASET or JOB'",
        "event_type STRING COMMENT 'START, RUNNING, COMPLETE, FAIL, ABORT, OTHER or null'",
        "run_id STRING COMMENT 'UUID of the run, in lower case; null unless it is a run event'",
        "job_namespace STRING COMMENT 'null for a dataset event'",
        "job_name STRING COMMENT 'null for a dataset event'",
        "dataset_namespace STRING COMMENT 'of a dataset event'",
        "dataset_name STRING COMMENT 'of a dataset event'",
        "job_facets_hash BIGINT COMMENT 'changes with the facets of the job'",
        "dataset_facets_hash BIGINT COMMENT 'of a dataset event, likewise'",
        f"inputs {_DATASETS} COMMENT 'the datasets it reads, with their statistics, and a hash of their facets'",
        f"outputs {_DATASETS} COMMENT 'the datasets it writes, likewise'",
        "producer STRING COMMENT 'URI of the code that made the event'",
        "schema_url STRING COMMENT 'the version of OpenLineage it is written in'",
        "error_message STRING COMMENT 'facet errorMessage'",
        "event STRING COMMENT 'the OpenLineage JSON as its producer wrote it'",
    ),
)


def write(batch: Batch, store: Store) -> None:
    """Add the batch's events that the table does not have.

    Only ids and offsets are compared; the JSON is never shuffled. The same event has the same time, so only the files
    of the batch's own times are searched.
    """
    if batch.usable == 0:
        return
    known = store.read(TABLE).where(batch.event_times).select("event_id")
    copies = batch.events.select("event_id", *COORDINATES).unionByName(known, allowMissingColumns=True)
    in_order = Window.partitionBy("event_id").orderBy(*(F.col(name).asc_nulls_first() for name in COORDINATES))
    superfluous = copies.withColumn("copy", F.row_number().over(in_order)).where("copy > 1").select(*COORDINATES)
    new = batch.events.join(F.broadcast(superfluous), list(COORDINATES), "left_anti")
    store.append(TABLE, new.select(*TABLE.columns))
