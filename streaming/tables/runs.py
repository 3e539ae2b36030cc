"""`runs`: one row per run, START joined with its end, in whatever order they came.

Columns are merged by a rule of `stages.merge_rules`, or derived from merged ones. Nothing else is stored, so that the
row is a function of the set of the run's events.
"""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.stages.batch import Batch
from lineproof.streaming.stages.merge_rules import EARLIEST, LATEST, UNION, Rule, folded, latest_by, smallest
from lineproof.streaming.tables import certificates

COUNTED_EVENTS = 500
"""From so many events on, a run's are not counted here: a stream that never ends has millions."""

_PARENT = "STRUCT<run_id: STRING, job_namespace: STRING, job_name: STRING>"
_DATASETS = "ARRAY<STRUCT<namespace: STRING, name: STRING, stated_at: TIMESTAMP, row_count: BIGINT, size: BIGINT>>"
_LEDGER = (
    "event_time: TIMESTAMP, event_id: STRING, input_count: BIGINT, processed_count: BIGINT, "
    "filtered_count: BIGINT, errored_count: BIGINT, declared_balanced: BOOLEAN"
)

TABLE = Table(
    name="runs",
    comment="One row per run: START joined with its end, the same whatever order the events came in.",
    key=("run_id",),
    cluster_by=("run_id", "job_name"),
    kept_by="last_event_at",
    constraints={
        "known_state": "state IN ('NEW', 'RUNNING', 'COMPLETED', 'ABORTED', 'FAILED')",
        "no_negative_duration": "coalesce(duration_ms, 0) >= 0 AND coalesce(clock_skew_ms, 1) > 0",
    },
    schema=(
        "run_id STRING NOT NULL COMMENT 'UUID, in lower case'",
        "job_namespace STRING COMMENT 'of the first of its jobs'",
        "job_name STRING COMMENT 'of the first of its jobs'",
        "state STRING COMMENT 'NEW, RUNNING, COMPLETED, ABORTED or FAILED; of two ends the worse one counts'",
        "successful BOOLEAN COMMENT 'COMPLETED, and no ledger says otherwise'",
        "started_at TIMESTAMP COMMENT 'earliest START; null if none came'",
        "ended_at TIMESTAMP COMMENT 'when the run came to its state; null while it is open'",
        "duration_ms BIGINT COMMENT 'from started_at to ended_at; null unless both are known and in order'",
        "clock_skew_ms BIGINT COMMENT 'by how much ended_at lies before started_at; null if it does not'",
        "has_conflicting_ends BOOLEAN COMMENT 'events of more than one terminal type came'",
        "ledger_verdict STRING COMMENT 'balanced, unbalanced, misdeclared, incomplete; null without a ledger'",
        "ledger_difference DECIMAL(20,0) COMMENT 'input - processed - filtered - errored'",
        "had_faulty_ledger BOOLEAN COMMENT 'some event stated a ledger that does not balance, be it not the latest'",
        f"ledger STRUCT<{_LEDGER}> COMMENT 'the accounting ledger of the latest event that has one'",
        "error STRUCT<event_time: TIMESTAMP, event_id: STRING, message: STRING> COMMENT 'of the latest event with one'",
        "certificate_verdict STRING COMMENT 'altered, foreign algorithm or intact: what the hashes of its certificates "
        "say, the worst first; how they are linked to others is in certificate_checks; null without a certificate'",
        "nominal STRUCT<event_time: TIMESTAMP, event_id: STRING, start_at: TIMESTAMP, end_at: TIMESTAMP> "
        "COMMENT 'the time the run is for, as the latest event with one says'",
        f"parent {_PARENT} COMMENT 'the run that started it, as the parent facet names it'",
        f"root {_PARENT} COMMENT 'the run at the top, as the parent facet names it'",
        "trace_id STRING COMMENT 'W3C trace id of its envelopes'",
        "producer STRING COMMENT 'URI of the code that made its events'",
        f"inputs {_DATASETS} COMMENT 'all inputs any event named, with the statistics stated last'",
        f"outputs {_DATASETS} COMMENT 'all outputs any event named, with the statistics stated last'",
        "jobs ARRAY<STRUCT<namespace: STRING, name: STRING>> COMMENT 'all jobs its events name: one, if all is well'",
        f"event_count INT COMMENT 'distinct events; null from {COUNTED_EVENTS} on: count them in lineage_events then'",
        "running_at TIMESTAMP COMMENT 'earliest RUNNING'",
        "completed_at TIMESTAMP COMMENT 'earliest COMPLETE'",
        "failed_at TIMESTAMP COMMENT 'earliest FAIL'",
        "aborted_at TIMESTAMP COMMENT 'earliest ABORT'",
        "first_event_at TIMESTAMP COMMENT 'eventTime of its earliest event'",
        "last_event_at TIMESTAMP COMMENT 'eventTime of its latest event'",
        f"event_hashes ARRAY<BIGINT> COMMENT 'of its event ids, at most {COUNTED_EVENTS}: what event_count counts'",
    ),
)

RULES: dict[str, Rule] = {
    "jobs": UNION,
    "started_at": EARLIEST,
    "running_at": EARLIEST,
    "completed_at": EARLIEST,
    "failed_at": EARLIEST,
    "aborted_at": EARLIEST,
    "first_event_at": EARLIEST,
    "last_event_at": LATEST,
    "ledger": LATEST,
    "had_faulty_ledger": LATEST,
    "error": LATEST,
    "certificate_verdict": EARLIEST,
    "nominal": LATEST,
    "parent": EARLIEST,
    "root": EARLIEST,
    "trace_id": EARLIEST,
    "producer": EARLIEST,
    "inputs": latest_by("namespace", "name"),
    "outputs": latest_by("namespace", "name"),
    "event_hashes": smallest(COUNTED_EVENTS),
}
"""How each merged column merges. Job, parent, producer, … are the same in all events of a sane run; where they
are not, the smallest is as good as any and the same for everyone."""


def runs(events: DataFrame) -> DataFrame:
    """Rows of `runs` from the facts of events."""
    return rows(elements(events.where(F.col("kind") == "RUN")))


def rows(elements: DataFrame) -> DataFrame:
    """Rows of `runs` from others, or from events as such: any that belong to the same run are merged."""
    return folded(elements, ["run_id"], RULES).withColumns(_derived())


@cache
def _derived() -> dict[str, Column]:
    """The columns that follow from the merged ones."""
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
        "successful": (state == "COMPLETED") & F.coalesce(verdict == "balanced", F.lit(True)),
        "ended_at": ended,
        "duration_ms": F.when(elapsed >= 0, elapsed),
        "clock_skew_ms": F.when(elapsed < 0, -elapsed),
        "has_conflicting_ends": ends > 1,
        "ledger_verdict": verdict,
        "ledger_difference": _ledger_difference(ledger),
        "event_count": F.when(events < COUNTED_EVENTS, events),
    }


def write(batch: Batch, store: Store) -> DataFrame | None:
    """Merge the batch's runs into the table; return their rows."""
    if batch.usable == 0:
        return None
    events = batch.events.where(F.col("kind") == "RUN")
    # There are nearly as many runs as events: to sort them takes less than to hash them.
    with store.settings({"spark.sql.execution.useObjectHashAggregateExec": "false"}):
        return store.fold(TABLE, events.select("run_id"), elements(events), rows, batch.run_ids)


def elements(events: DataFrame) -> DataFrame:
    """Each event as a row of `runs` that knows of nothing else."""
    return events.select("run_id", *_values())


@cache
def _values() -> list[Column]:
    """What an event says, by the names of `RULES`."""
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
        "ledger": F.when(F.col("ledger").isNotNull(), F.struct(*version, F.col("ledger.*"))),
        "had_faulty_ledger": _ledger_verdict(F.col("ledger")) != "balanced",
        "error": F.when(
            F.col("error_message").isNotNull(), F.struct(*version, F.col("error_message").alias("message"))
        ),
        "certificate_verdict": F.when(F.col("certificate").isNotNull(), certificates.verdict(F.col("certificate"))),
        "nominal": F.when(F.coalesce("nominal_start_at", "nominal_end_at").isNotNull(), nominal),
        "parent": F.col("parent"),
        "root": F.col("root"),
        "trace_id": F.col("trace_id"),
        "producer": F.col("producer"),
        "inputs": _with_statistics("inputs"),
        "outputs": _with_statistics("outputs"),
        "event_hashes": F.array(F.xxhash64("event_id")),
    }
    return [values[name].alias(name) for name in RULES]


def _with_statistics(datasets: str) -> Column:
    """Statistics carry the time they were stated, so that an event without them does not erase them."""

    def stated(one: Column) -> Column:
        is_stated = F.coalesce(one["row_count"], one["size"]).isNotNull()
        return F.struct(
            one["namespace"].alias("namespace"),
            one["name"].alias("name"),
            F.when(is_stated, F.col("event_time")).alias("stated_at"),
            one["row_count"].alias("row_count"),
            one["size"].alias("size"),
        )

    return F.transform(F.coalesce(F.col(datasets), F.array()), stated)


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
        .when(difference.isNull(), "incomplete")
        .when(difference != 0, "unbalanced")
        .when(~F.coalesce(ledger["declared_balanced"], F.lit(True)), "misdeclared")
        .otherwise("balanced")
    )
