"""`archive`: every record as it came, beside the facts decoded from it once.

Append only. Everything after it is a function of it.
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.reasons import Reason
from lineproof.streaming import decode
from lineproof.streaming.facts import with_facts
from lineproof.streaming.store import Store, Table
from lineproof.streaming.topic import Ranges

CERTIFICATE = (
    "certificate_id: STRING, algorithm: STRING, source_state_hash: STRING, target_state_hash: STRING, "
    "contract_version: STRING, timestamp: STRING, run_id: STRING, previous_hash: STRING, chain_hash: STRING, "
    "invariants: ARRAY<STRUCT<name: STRING, passed: BOOLEAN>>, "
    "materiality_thresholds: ARRAY<STRUCT<name: STRING, value: STRING>>"
)
"""A fidelity certificate as its event carries it: texts as they were hashed."""

DATASETS = "ARRAY<STRUCT<namespace: STRING, name: STRING, row_count: BIGINT, size: BIGINT, facets_hash: BIGINT>>"
PARENT = "STRUCT<run_id: STRING, job_namespace: STRING, job_name: STRING>"

TABLE = Table(
    name="archive",
    comment="Every record of the topic as it came, and the facts decoded from it once. Append only.",
    partition_by=("day",),
    schema=(
        "day DATE COMMENT 'UTC day of the Kafka timestamp'",
        "topic STRING COMMENT 'its name; NAME#2 for the records of a topic that was made anew'",
        "partition INT COMMENT 'Kafka partition'",
        "offset BIGINT COMMENT 'Kafka offset'",
        "timestamp TIMESTAMP COMMENT 'Kafka timestamp'",
        "timestamp_type INT COMMENT '0 set by the producer, 1 by the broker'",
        "reason STRING COMMENT 'why the record cannot be used; null if it can'",
        "event_id STRING COMMENT 'UUIDv8 over the SHA-256 of the payload'",
        "kind STRING COMMENT 'RUN, DATASET or JOB'",
        "event_type STRING COMMENT 'START, RUNNING, COMPLETE, FAIL, ABORT, OTHER or null'",
        "event_time TIMESTAMP COMMENT 'eventTime of the event'",
        "run_id STRING COMMENT 'UUID of the run, in lower case'",
        "job_namespace STRING COMMENT 'of a run or job event'",
        "job_name STRING COMMENT 'of a run or job event'",
        "dataset_namespace STRING COMMENT 'of a dataset event'",
        "dataset_name STRING COMMENT 'of a dataset event'",
        "job_facets_hash BIGINT COMMENT 'changes when a facet of the job does'",
        "dataset_facets_hash BIGINT COMMENT 'of a dataset event'",
        f"inputs {DATASETS} COMMENT 'the datasets it reads, with their statistics'",
        f"outputs {DATASETS} COMMENT 'the datasets it writes, with their statistics'",
        "producer STRING COMMENT 'URI of the code that made the event'",
        "schema_url STRING COMMENT 'the version of OpenLineage it is written in'",
        f"parent {PARENT} COMMENT 'facet parent'",
        f"root {PARENT} COMMENT 'the run at the top, as the parent facet names it'",
        "nominal_start_at TIMESTAMP COMMENT 'facet nominalTime'",
        "nominal_end_at TIMESTAMP COMMENT 'facet nominalTime'",
        "error_message STRING COMMENT 'facet errorMessage'",
        "ledger STRUCT<input_count: BIGINT, processed_count: BIGINT, filtered_count: BIGINT, errored_count: BIGINT, "
        "declared_balanced: BOOLEAN> COMMENT 'facet cdme_accountingLedger'",
        f"certificate STRUCT<{CERTIFICATE}> COMMENT 'facet cdme_fidelityCertificate'",
        "emitter_id STRING COMMENT 'the emitter that sent it, one per life of a process'",
        "sequence BIGINT COMMENT 'counts the events of one emitter_id from 0'",
        "trace_id STRING COMMENT 'W3C trace id of the envelope'",
        "key BINARY COMMENT 'Kafka key'",
        "headers ARRAY<STRUCT<key: STRING, value: BINARY>> COMMENT 'Kafka headers'",
        "value BINARY COMMENT 'the bytes of the record, unchanged'",
    ),
)

_SEALED = ("event_id", "kind", "event_type", "event_time", "run_id", "job_namespace", "job_name")
"""What an envelope and its event both say."""

COORDINATES = ("topic", "partition", "offset")
"""What a record of the topic is known by."""


def archive(records: DataFrame, schema_ids: Mapping[int, int]) -> DataFrame:
    """Rows of `archive` from records as the Kafka source gives them."""
    value = F.col("value")
    opened = records.withColumn("envelope", decode.envelope(value, schema_ids))
    envelope = F.col("envelope")
    kept = (*_SEALED, "emitter_id", "sequence", "trace_id")
    unsealed = opened.withColumns(
        {
            "payload": decode.payload(value, envelope),
            "reason": decode.unreadable(value, envelope, schema_ids),
            "envelope": F.when(envelope.isNotNull(), F.struct(*(envelope[name].alias(name) for name in kept))),
        }
    ).withColumn("event_id", decode.event_id(F.col("payload")))
    return (
        with_facts(unsealed)
        .withColumns(
            {
                "reason": F.coalesce("reason", _disagreement(envelope)),
                "day": F.to_date("timestamp"),
                "timestamp_type": F.col("timestampType"),
                "emitter_id": envelope["emitter_id"],
                "sequence": envelope["sequence"],
                "trace_id": envelope["trace_id"],
            }
        )
        .select(*TABLE.columns)
    )


def payload_text(schema_ids: Mapping[int, int]) -> Column:
    """The event's JSON, out of an archived record that has no reason against it."""
    value = F.col("value")
    return decode.payload(value, decode.envelope(value, schema_ids)).cast("string")


def extent(store: Store) -> Mapping[str, Ranges]:
    """The first archived offset and the one after the last, by topic and partition."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    ends = store.read(TABLE).groupBy("topic", "partition").agg(F.min("offset"), F.max("offset") + 1)
    for topic, partition, begin, end in ends.collect():
        found.setdefault(topic, {})[partition] = (begin, end)
    return found


def _disagreement(envelope: Column) -> Column:
    agrees = F.lit(True)
    for name in _SEALED:
        agrees = agrees & envelope[name].eqNullSafe(F.col(name))
    return F.when(envelope.isNotNull() & ~agrees, Reason.ENVELOPE_DISAGREES.value)
