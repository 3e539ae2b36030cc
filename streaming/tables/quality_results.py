"""`quality_results`: every result of a test that any event states, whoever ran it.

A result is known by its event and its place in it, so that the table is a set. Ours, dbt's and others' come as facets:
`dataQualityAssertions` of a dataset, `test` of a run. What the standard has no word for, `lineproof quality` puts into
`params`.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.tables import QUALITY_RESULTS
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.batch import Batch

TABLE = Table(
    contract=QUALITY_RESULTS,
    comment="Every result of a test that an event states, whoever ran it.",
    cluster_by=("event_time", "name"),
    retention_column="event_time",
    schema=(
        "result_id STRING NOT NULL COMMENT 'SHA-256 of the event id and the place in the event'",
        "namespace STRING COMMENT 'of the dataset that was tested; null where a run says it of no dataset'",
        "name STRING COMMENT 'likewise'",
        "suite STRING COMMENT 'the suite the test belongs to, where its tool says so'",
        "expectation STRING COMMENT 'what was tested, in the words of the tool'",
        "column STRING COMMENT 'null for a test of the dataset as a whole'",
        "success BOOLEAN COMMENT 'null if the test was skipped'",
        "severity STRING COMMENT 'as the tool says'",
        "expected STRING COMMENT 'what should have been there'",
        "observed STRING COMMENT 'what was there'",
        "unexpected_count BIGINT COMMENT 'rows that do not meet it'",
        "unexpected_share DOUBLE COMMENT 'of all rows, from 0 to 1'",
        "samples ARRAY<STRING> COMMENT 'a few of the values that do not meet it, personal data masked'",
        "error STRING COMMENT 'why the test could not run, which is no success'",
        "duration_ms BIGINT COMMENT 'of the test'",
        "since TIMESTAMP COMMENT 'only rows written since then were tested; null for all rows'",
        "run_id STRING COMMENT 'the run that tested'",
        "job_namespace STRING COMMENT 'its job'",
        "job_name STRING COMMENT 'its job'",
        "event_time TIMESTAMP COMMENT 'eventTime of the event that says it'",
        "event_id STRING COMMENT 'the event that says it'",
    ),
)

_RESULTS = """ARRAY<STRUCT<
    assertion: STRING, type: STRING, name: STRING, success: STRING, status: STRING, column: STRING, severity: STRING,
    expected: STRING, actual: STRING, params: STRING
>>"""
_PARAMS = """
    suite STRING, unexpectedCount STRING, unexpectedShare STRING, samples ARRAY<STRING>, error STRING,
    durationMs STRING, since STRING
"""
_PASSED, _FAILED = ("pass", "passed", "success", "ok"), ("fail", "failed", "failure", "error")


def quality_results(events: DataFrame) -> DataFrame:
    """Rows of `quality_results` from the facts of events."""
    one, params = F.col("one"), F.col("params")
    stated = events.where(F.col("tests").isNotNull()).select(
        *("event_id", "event_time", "run_id", "job_namespace", "job_name"),
        F.posexplode("tests").alias("at", "test"),
    )
    return (
        stated.select("*", F.posexplode(F.from_json("test.results", _RESULTS)).alias("place", "one"))
        .withColumn("params", F.from_json(one["params"], _PARAMS))
        .select(
            *("event_id", "event_time", "run_id", "job_namespace", "job_name", "test.namespace", "test.name"),
            F.sha2(F.concat_ws("/", "event_id", "at", "place"), 256).alias("result_id"),
            params["suite"].alias("suite"),
            F.coalesce(one["assertion"], one["type"], one["name"]).alias("expectation"),
            one["column"].alias("column"),
            _success(one).alias("success"),
            one["severity"].alias("severity"),
            one["expected"].alias("expected"),
            one["actual"].alias("observed"),
            params["unexpectedCount"].try_cast("bigint").alias("unexpected_count"),
            params["unexpectedShare"].try_cast("double").alias("unexpected_share"),
            params["samples"].alias("samples"),
            params["error"].alias("error"),
            params["durationMs"].try_cast("bigint").alias("duration_ms"),
            params["since"].try_cast("timestamp").alias("since"),
        )
        .dropDuplicates(["result_id"])
    )


def _success(one: Column) -> Column:
    """Said as a boolean of a dataset, and as a word of a run."""
    word = F.lower(one["status"])
    by_word = F.when(word.isin(*_PASSED), F.lit(True)).when(word.isin(*_FAILED), F.lit(False))
    return F.coalesce(one["success"].try_cast("boolean"), by_word)


def test_id() -> Column:
    """What makes it the same test each time it is run: dataset (else job), suite, expectation, column, the expected."""
    return F.sha2(F.to_json(F.struct(*_tested(), "suite", "expectation", "column", "expected")), 256)


def group_id() -> Column:
    """The same for all results of which the view `latest_results` keeps the latest; by chance, also for others."""
    of_no_suite = (F.when(F.col("suite").isNull(), F.col(name)) for name in ("expectation", "column"))
    return F.xxhash64(*_tested(), "suite", *of_no_suite)


def _tested() -> list[Column]:
    """The dataset; where there is none, the job."""
    of_no_dataset = (F.when(F.col("name").isNull(), F.col(name)).alias(name) for name in ("job_namespace", "job_name"))
    return [F.col("namespace"), F.col("name"), *of_no_dataset]


def write(batch: Batch, writer: BatchWriter) -> None:
    """Add the batch's results that the table does not have. Those of one event have its time."""
    if batch.tests == 0:
        return
    known = writer.read(TABLE).where(batch.event_times).select("result_id")
    writer.append(TABLE, quality_results(batch.events).join(known, "result_id", "left_anti"))
