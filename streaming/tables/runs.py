"""`runs`: one row per run, START joined with its end, in any order of arrival.

Every column is merged by a rule of `stages.merge_rules`, or computed from merged columns. So a row is a function of the
set of the run's events, whatever their order.
"""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.limits import DEFAULT_LIMITS, Limits
from lineproof.schemas.tables import RUNS
from lineproof.schemas.verdicts import (
    LEDGER_BALANCED,
    LEDGER_INCOMPLETE,
    LEDGER_MISDECLARED,
    LEDGER_UNBALANCED,
)
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.spark_settings import session_settings
from lineproof.streaming.stages.batch import Batch
from lineproof.streaming.stages.io_id import io_id, names
from lineproof.streaming.stages.merge_rules import EARLIEST, LATEST, MergeRules, Rule, latest_by, smallest
from lineproof.streaming.tables import certificates

COUNTED_EVENTS = 500
"""Up to this many events of a run are counted: a streaming job that never ends has millions."""

_PARENT = "STRUCT<run_id: STRING, job_namespace: STRING, job_name: STRING>"
_DATASETS = "ARRAY<STRUCT<namespace: STRING, name: STRING, stated_at: TIMESTAMP, row_count: BIGINT, size: BIGINT>>"
_LEDGER = (
    "event_time: TIMESTAMP, event_id: STRING, input_count: BIGINT, processed_count: BIGINT, "
    "filtered_count: BIGINT, errored_count: BIGINT, declared_balanced: BOOLEAN"
)

TABLE = Table(
    contract=RUNS,
    comment="One row per run: START joined with its end, the same for any order of arrival.",
    cluster_by=("run_id", "job_name"),
    retention_column="last_event_at",
    constraints={
        "known_state": "state IN ('NEW', 'RUNNING', 'COMPLETED', 'ABORTED', 'FAILED')",
        "no_negative_duration": "coalesce(duration_ms, 0) >= 0 AND coalesce(clock_skew_ms, 1) > 0",
    },
    schema=(
        "run_id STRING NOT NULL COMMENT 'UUID, in lower case; or another text, as it is'",
        "job_namespace STRING COMMENT 'of the first job in jobs'",
        "job_name STRING COMMENT 'of the first job in jobs'",
        "state STRING COMMENT 'NEW, RUNNING, COMPLETED, ABORTED or FAILED; of several ends, the worst counts'",
        "successful BOOLEAN COMMENT 'COMPLETED, and its ledger, if it has one, is balanced'",
        "started_at TIMESTAMP COMMENT 'earliest START; null if none came'",
        "ended_at TIMESTAMP COMMENT 'time of the end that decides state; null while the run is open'",
        "duration_ms BIGINT COMMENT 'from started_at to ended_at; null unless both are known and in order'",
        "stated_duration_ms BIGINT COMMENT 'facet timing: the longest duration that an event states'",
        "clock_skew_ms BIGINT COMMENT 'how long ended_at is before started_at; null if it is not'",
        "has_conflicting_ends BOOLEAN COMMENT 'whether the run has ends of more than one type'",
        "ledger_verdict STRING COMMENT 'balanced, unbalanced, misdeclared, incomplete; null without a ledger'",
        "ledger_difference DECIMAL(20,0) COMMENT 'input - processed - filtered - errored'",
        "had_faulty_ledger BOOLEAN COMMENT 'whether any event, not only the latest, has a ledger that is not balanced'",
        f"ledger STRUCT<{_LEDGER}> COMMENT 'the accounting ledger of the latest event that has one'",
        "error STRUCT<event_time: TIMESTAMP, event_id: STRING, message: STRING> COMMENT 'of the latest event with one'",
        "certificate_verdict STRING COMMENT 'altered, unknown algorithm or intact: the worst verdict on the hashes of "
        "its certificates; certificate_checks has the links between them; null without a certificate'",
        "nominal STRUCT<event_time: TIMESTAMP, event_id: STRING, start_at: TIMESTAMP, end_at: TIMESTAMP> "
        "COMMENT 'the scheduled time, from the latest event with one'",
        f"parent {_PARENT} COMMENT 'the run that started it, from facet parent'",
        f"root {_PARENT} COMMENT 'the root run, from facet parent'",
        "trace_id STRING COMMENT 'W3C trace id of its envelopes'",
        "producer STRING COMMENT 'URI of the code that made its events'",
        f"inputs {_DATASETS} COMMENT 'all inputs of its events, with the latest statistics'",
        f"outputs {_DATASETS} COMMENT 'all outputs of its events, with the latest statistics'",
        "jobs ARRAY<STRUCT<namespace: STRING, name: STRING>> COMMENT 'all jobs that its events name; normally one'",
        "io_id STRING COMMENT 'its jobs, inputs and outputs: a row of job_io; null without inputs and outputs'",
        f"event_count INT COMMENT 'distinct events; null from {COUNTED_EVENTS} on: count them in lineage_events'",
        "running_at TIMESTAMP COMMENT 'earliest RUNNING'",
        "completed_at TIMESTAMP COMMENT 'earliest COMPLETE'",
        "failed_at TIMESTAMP COMMENT 'earliest FAIL'",
        "aborted_at TIMESTAMP COMMENT 'earliest ABORT'",
        "first_event_at TIMESTAMP COMMENT 'eventTime of its earliest event'",
        "last_event_at TIMESTAMP COMMENT 'eventTime of its latest event'",
        f"event_hashes ARRAY<BIGINT> COMMENT 'hashes of its event ids, at most {COUNTED_EVENTS}, for event_count'",
    ),
)


@cache
def rules(limits: Limits) -> dict[str, Rule]:
    """The rule of each merged column. Job, parent, producer and the like are normally the same in all events of a run;
    if not, the smallest value is taken, so that the result does not depend on the order."""
    return {
        "jobs": smallest(limits.jobs),
        "started_at": EARLIEST,
        "running_at": EARLIEST,
        "completed_at": EARLIEST,
        "failed_at": EARLIEST,
        "aborted_at": EARLIEST,
        "first_event_at": EARLIEST,
        "last_event_at": LATEST,
        "stated_duration_ms": LATEST,
        "ledger": LATEST,
        "had_faulty_ledger": LATEST,
        "error": LATEST,
        "certificate_verdict": certificates.WORST_VERDICT,
        "nominal": LATEST,
        "parent": EARLIEST,
        "root": EARLIEST,
        "trace_id": EARLIEST,
        "producer": EARLIEST,
        "inputs": latest_by("namespace", "name", at_most=limits.datasets),
        "outputs": latest_by("namespace", "name", at_most=limits.datasets),
        "event_hashes": smallest(COUNTED_EVENTS),
    }


@cache
def _derived() -> dict[str, Column]:
    """The columns that are computed from the merged ones."""
    started, completed = F.col("started_at"), F.col("completed_at")
    failed, aborted = F.col("failed_at"), F.col("aborted_at")
    state = (
        F.when(failed.isNotNull(), "FAILED")
        .when(aborted.isNotNull(), "ABORTED")
        .when(completed.isNotNull(), "COMPLETED")
        .when(started.isNotNull() | F.col("running_at").isNotNull(), "RUNNING")
        .otherwise("NEW")
    )
    ended = F.coalesce(failed, aborted, completed)
    elapsed = F.unix_millis(ended) - F.unix_millis(started)
    ends = sum((end.isNotNull().cast("int") for end in (failed, aborted, completed)), F.lit(0))
    ledger = F.col("ledger")
    verdict = _ledger_verdict(ledger)
    events = F.size(F.col("event_hashes"))
    return {
        "job_namespace": F.col("jobs")[0]["namespace"],
        "job_name": F.col("jobs")[0]["name"],
        "state": state,
        "successful": (state == "COMPLETED") & F.coalesce(verdict == LEDGER_BALANCED, F.lit(True)),
        "ended_at": ended,
        "duration_ms": F.when(elapsed >= 0, elapsed),
        "clock_skew_ms": F.when(elapsed < 0, -elapsed),
        "has_conflicting_ends": ends > 1,
        "ledger_verdict": verdict,
        "ledger_difference": _ledger_difference(ledger),
        "event_count": F.when(events < COUNTED_EVENTS, events),
        "io_id": io_id(F.col("jobs"), names(F.col("inputs")), names(F.col("outputs"))),
    }


@cache
def merge_rules(limits: Limits) -> MergeRules:
    """How rows of the same run become one."""
    return MergeRules(RUNS.key, rules(limits), _derived)


def write(batch: Batch, writer: BatchWriter) -> DataFrame | None:
    """Merge the batch's runs into the table; return their rows."""
    if batch.usable == 0:
        return None
    new = single_event_runs(batch.events)
    # There are nearly as many runs as events: sorting them takes less time than hashing them.
    with session_settings(batch.events.sparkSession, {"spark.sql.execution.useObjectHashAggregateExec": "false"}):
        return writer.fold(TABLE, new.select("run_id"), new, merge_rules(batch.limits), batch.run_ids)


def single_event_runs(events: DataFrame) -> DataFrame:
    """Each run event as the row of a run that has no other event."""
    return events.where(F.col("kind") == "RUN").select("run_id", *_values())


@cache
def _values() -> list[Column]:
    """The values of one event, one for each column that has a rule."""
    version = (F.col("event_time"), F.col("event_id"))
    at = {
        "started_at": "START",
        "running_at": "RUNNING",
        "completed_at": "COMPLETE",
        "failed_at": "FAIL",
        "aborted_at": "ABORT",
    }
    nominal = F.struct(*version, F.col("nominal_start_at").alias("start_at"), F.col("nominal_end_at").alias("end_at"))
    values = {
        **{name: F.when(F.col("event_type") == kind, F.col("event_time")) for name, kind in at.items()},
        "jobs": F.array(F.struct(F.col("job_namespace").alias("namespace"), F.col("job_name").alias("name"))),
        "first_event_at": F.col("event_time"),
        "last_event_at": F.col("event_time"),
        "stated_duration_ms": F.col("stated_duration_ms"),
        "ledger": F.when(F.col("ledger").isNotNull(), F.struct(*version, F.col("ledger.*"))),
        "had_faulty_ledger": _ledger_verdict(F.col("ledger")) != LEDGER_BALANCED,
        "error": F.when(
            F.col("error_message").isNotNull(), F.struct(*version, F.col("error_message").alias("message"))
        ),
        "certificate_verdict": F.when(_has_own_certificate(), certificates.verdict(F.col("certificate"))),
        "nominal": F.when(F.coalesce("nominal_start_at", "nominal_end_at").isNotNull(), nominal),
        "parent": F.col("parent"),
        "root": F.col("root"),
        "trace_id": F.col("trace_id"),
        "producer": F.col("producer"),
        "inputs": _with_statistics("inputs"),
        "outputs": _with_statistics("outputs"),
        "event_hashes": F.array(F.xxhash64("event_id")),
    }
    return [values[name].alias(name) for name in rules(DEFAULT_LIMITS)]


def _has_own_certificate() -> Column:
    """Whether the event has a certificate that is about its own run, or about none."""
    certified_run = F.lower(F.col("certificate")["run_id"])
    return F.col("certificate").isNotNull() & F.coalesce(certified_run == F.lower("run_id"), F.lit(True))


def _with_statistics(datasets: str) -> Column:
    """The datasets with the time of their statistics, so that an event without statistics does not erase them."""

    def with_time(dataset: Column) -> Column:
        has_statistics = F.coalesce(dataset["row_count"], dataset["size"]).isNotNull()
        return F.struct(
            dataset["namespace"].alias("namespace"),
            dataset["name"].alias("name"),
            F.when(has_statistics, F.col("event_time")).alias("stated_at"),
            dataset["row_count"].alias("row_count"),
            dataset["size"].alias("size"),
        )

    return F.transform(F.coalesce(F.col(datasets), F.array()), with_time)


def _ledger_difference(ledger: Column) -> Column:
    wide = "decimal(20,0)"  # sums of 64-bit counts do not fit into 64 bits
    return (
        ledger["input_count"].cast(wide)
        - ledger["processed_count"].cast(wide)
        - F.coalesce(ledger["filtered_count"], F.lit(0)).cast(wide)
        - F.coalesce(ledger["errored_count"], F.lit(0)).cast(wide)
    ).cast(wide)


def _ledger_verdict(ledger: Column) -> Column:
    difference = _ledger_difference(ledger)
    return (
        F.when(ledger.isNull(), None)
        .when(difference.isNull(), LEDGER_INCOMPLETE)
        .when(difference != 0, LEDGER_UNBALANCED)
        .when(~F.coalesce(ledger["declared_balanced"], F.lit(True)), LEDGER_MISDECLARED)
        .otherwise(LEDGER_BALANCED)
    )
