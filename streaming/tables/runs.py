"""`runs`: one row per run, START joined with its end, in whatever order they came.

Columns are either merged by a rule of `lineproof.streaming.lattice`, or derived from merged ones. Nothing else
is stored, so that the row is a function of the set of the run's events.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.streaming.batch import Batch
from lineproof.streaming.lattice import EARLIEST, LATEST, UNION, Rule
from lineproof.streaming.store import Store, Table

_LEDGER = (
    "event_time: TIMESTAMP, event_id: STRING, input_count: BIGINT, processed_count: BIGINT, "
    "filtered_count: BIGINT, errored_count: BIGINT, declared_balanced: BOOLEAN"
)

TABLE = Table(
    name="runs",
    comment="One row per run: START joined with its end, the same whatever order the events came in.",
    schema=(
        "run_id STRING",
        "job_namespace STRING",
        "job_name STRING",
        "state STRING COMMENT 'NEW, RUNNING, COMPLETED, ABORTED or FAILED; of two ends the worse one counts'",
        "successful BOOLEAN COMMENT 'COMPLETED, and no ledger says otherwise'",
        "started_at TIMESTAMP COMMENT 'earliest START; null if none came'",
        "ended_at TIMESTAMP COMMENT 'when the run came to its state; null while it is open'",
        "duration_ms BIGINT COMMENT 'from started_at to ended_at; null unless both are known and in order'",
        "clock_skew_ms BIGINT COMMENT 'by how much ended_at lies before started_at; null if it does not'",
        "has_conflicting_ends BOOLEAN COMMENT 'events of more than one terminal type came'",
        "ledger_verdict STRING COMMENT 'balanced, unbalanced, misdeclared, incomplete; null without a ledger'",
        "ledger_difference DECIMAL(20,0) COMMENT 'input - processed - filtered - errored'",
        f"ledger STRUCT<{_LEDGER}> COMMENT 'the accounting ledger of the latest event that has one'",
        "error STRUCT<event_time: TIMESTAMP, event_id: STRING, message: STRING> COMMENT 'of the latest event with one'",
        "parent STRUCT<run_id: STRING, job_namespace: STRING, job_name: STRING>",
        "trace_id STRING",
        "inputs ARRAY<STRUCT<namespace: STRING, name: STRING>> COMMENT 'all inputs any event named'",
        "outputs ARRAY<STRUCT<namespace: STRING, name: STRING>> COMMENT 'all outputs any event named'",
        "running_at TIMESTAMP COMMENT 'earliest RUNNING'",
        "completed_at TIMESTAMP COMMENT 'earliest COMPLETE'",
        "failed_at TIMESTAMP COMMENT 'earliest FAIL'",
        "aborted_at TIMESTAMP COMMENT 'earliest ABORT'",
        "first_event_at TIMESTAMP",
        "last_event_at TIMESTAMP",
    ),
)

RULES: dict[str, Rule] = {
    "job": EARLIEST,
    "started_at": EARLIEST,
    "running_at": EARLIEST,
    "completed_at": EARLIEST,
    "failed_at": EARLIEST,
    "aborted_at": EARLIEST,
    "first_event_at": EARLIEST,
    "last_event_at": LATEST,
    "ledger": LATEST,
    "error": LATEST,
    "parent": EARLIEST,
    "trace_id": EARLIEST,
    "inputs": UNION,
    "outputs": UNION,
}
"""How each merged column merges. `job` (stored as its two names) and `parent` are the same in all events of a
sane run; where they are not, the smallest is as good as any and the same for everyone."""


def runs(events: DataFrame) -> DataFrame:
    """Rows of `runs` from the facts of events."""
    folded = (
        events.where(F.col("kind") == "RUN")
        .select("run_id", *_elements())
        .groupBy("run_id")
        .agg(*(rule.fold(F.col(name)).alias(name) for name, rule in RULES.items()))
    )
    return folded.withColumns(derived(F.col)).select(*TABLE.columns)


def derived(column: Callable[[str], Column]) -> dict[str, Column]:
    """The columns that follow from the merged ones, which `column` gives by name."""
    started, completed = column("started_at"), column("completed_at")
    failed, aborted = column("failed_at"), column("aborted_at")
    state = (
        F.when(failed.isNotNull(), "FAILED")
        .when(aborted.isNotNull(), "ABORTED")
        .when(completed.isNotNull(), "COMPLETED")
        .when(started.isNotNull() | column("running_at").isNotNull(), "RUNNING")
        .otherwise("NEW")
    )
    ended = F.coalesce(failed, aborted, completed)
    elapsed = F.unix_millis(ended) - F.unix_millis(started)
    ends = sum((end.isNotNull().cast("int") for end in (failed, aborted, completed)), F.lit(0))
    ledger = column("ledger")
    verdict = _ledger_verdict(ledger)
    return {
        "job_namespace": column("job")["namespace"],
        "job_name": column("job")["name"],
        "state": state,
        "successful": (state == "COMPLETED") & F.coalesce(verdict == "balanced", F.lit(True)),
        "ended_at": ended,
        "duration_ms": F.when(elapsed >= 0, elapsed),
        "clock_skew_ms": F.when(elapsed < 0, -elapsed),
        "has_conflicting_ends": ends > 1,
        "ledger_verdict": verdict,
        "ledger_difference": _ledger_difference(ledger),
    }


def write(batch: Batch, store: Store) -> None:
    """Merge the batch's runs into the table."""
    if batch.usable == 0:
        return
    merged = {name: rule.join(_stored("old", name), _stored("new", name)) for name, rule in RULES.items()}
    columns = {**merged, **derived(merged.__getitem__)}
    del columns["job"]
    store.merge(TABLE, runs(batch.events), key="run_id", merged=columns)


def _stored(side: str, name: str) -> Column:
    if name == "job":
        return F.struct(F.col(f"{side}.job_namespace").alias("namespace"), F.col(f"{side}.job_name").alias("name"))
    return F.col(f"{side}.{name}")


def _elements() -> list[Column]:
    """An event as a row of `runs` that knows of nothing else."""
    version = (F.col("event_time"), F.col("event_id"))
    at = {
        "started_at": "START",
        "running_at": "RUNNING",
        "completed_at": "COMPLETE",
        "failed_at": "FAIL",
        "aborted_at": "ABORT",
    }
    parent = F.struct(
        F.col("parent_run_id").alias("run_id"),
        F.col("parent_job_namespace").alias("job_namespace"),
        F.col("parent_job_name").alias("job_name"),
    )
    no_datasets = F.array().cast("array<struct<namespace:string,name:string>>")
    outputs = F.transform(
        "outputs", lambda one: F.struct(one["namespace"].alias("namespace"), one["name"].alias("name"))
    )
    elements = {
        **{name: F.when(F.col("event_type") == kind, F.col("event_time")) for name, kind in at.items()},
        "job": F.struct(F.col("job_namespace").alias("namespace"), F.col("job_name").alias("name")),
        "first_event_at": F.col("event_time"),
        "last_event_at": F.col("event_time"),
        "ledger": F.when(F.col("ledger").isNotNull(), F.struct(*version, F.col("ledger.*"))),
        "error": F.when(
            F.col("error_message").isNotNull(), F.struct(*version, F.col("error_message").alias("message"))
        ),
        "parent": F.when(F.col("parent_run_id").isNotNull(), parent),
        "trace_id": F.col("trace_id"),
        "inputs": F.coalesce("inputs", no_datasets),
        "outputs": F.coalesce(outputs, no_datasets),
    }
    return [elements[name].alias(name) for name in RULES]


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
