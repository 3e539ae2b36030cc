"""`lineage_events`: every distinct event once, with its complete JSON.

An event is identified by its payload: two records with the same bytes have the same `event_id` and are one event. A
record with a defect that is not of its bytes has another `event_id`. Every column is a function of the payload and of
these defects, so it does not matter which copy arrives first.
"""

from pyspark.sql import Window
from pyspark.sql import functions as F

from lineproof.schemas.tables import COORDINATES, LINEAGE_EVENTS
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.batch import Batch
from lineproof.streaming.stages.io_id import of_job_event

_DATASETS = "ARRAY<STRUCT<namespace: STRING, name: STRING, row_count: BIGINT, size: BIGINT, facets_hash: BIGINT>>"

TABLE = Table(
    contract=LINEAGE_EVENTS,
    comment="Every distinct event once, with its complete JSON.",
    cluster_by=("event_time", "job_name", "run_id"),
    retention_column="event_time",
    constraints={"known_kind": "kind IN ('RUN', 'DATASET', 'JOB')"},
    schema=(
        "event_id STRING NOT NULL COMMENT 'UUIDv8 over the SHA-256 of the event and of the defects of its record'",
        "event_time TIMESTAMP COMMENT 'eventTime; the Kafka timestamp if eventTime is more than a day after it'",
        "kind STRING COMMENT 'RUN, DATASET or JOB'",
        "event_type STRING COMMENT 'START, RUNNING, COMPLETE, FAIL, ABORT, OTHER or null'",
        "run_id STRING COMMENT 'UUID of the run, in lower case, or other text; null unless it is a run event'",
        "job_namespace STRING COMMENT 'null for a dataset event'",
        "job_name STRING COMMENT 'null for a dataset event'",
        "dataset_namespace STRING COMMENT 'of a dataset event'",
        "dataset_name STRING COMMENT 'of a dataset event'",
        "job_facets_hash BIGINT COMMENT 'changes with the facets of the job'",
        "dataset_facets_hash BIGINT COMMENT 'dataset event: changes with the facets of the dataset'",
        f"inputs {_DATASETS} COMMENT 'the datasets it reads, with their statistics, and a hash of their facets'",
        f"outputs {_DATASETS} COMMENT 'the datasets it writes, with their statistics, and a hash of their facets'",
        "io_id STRING COMMENT 'job event: its job, inputs and outputs, a row of job_io; null if there are none'",
        "producer STRING COMMENT 'URI of the code that made the event'",
        "schema_url STRING COMMENT 'the version of the OpenLineage schema'",
        "error_message STRING COMMENT 'facet errorMessage'",
        "defects ARRAY<STRING> COMMENT 'what is wrong with it: codes of lineproof.schemas.defects; null if nothing is'",
        "event STRING COMMENT 'the OpenLineage JSON, unchanged; if a key came twice, with the last one only'",
    ),
)


def write(batch: Batch, writer: BatchWriter) -> None:
    """Add the batch's events that the table does not have.

    Only ids and coordinates are compared; the JSON is never shuffled. Copies of an event have the same time, so only
    files of the batch's times are read.
    """
    if batch.usable == 0:
        return
    known = writer.read(TABLE).where(batch.event_times.condition()).select("event_id")
    copies = batch.events.select("event_id", *COORDINATES).unionByName(known, allowMissingColumns=True)
    in_order = Window.partitionBy("event_id").orderBy(*(F.col(name).asc_nulls_first() for name in COORDINATES))
    duplicates = copies.withColumn("copy", F.row_number().over(in_order)).where("copy > 1").select(*COORDINATES)
    new = batch.events.join(F.broadcast(duplicates), list(COORDINATES), "left_anti")
    writer.append(TABLE, new.withColumn("io_id", of_job_event()).select(*TABLE.columns))
