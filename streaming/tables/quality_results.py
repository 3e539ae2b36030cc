"""`quality_results`: every test result in any event, from any tool.

A result is identified by its event and its position in the event, so the table is a set. Results of lineproof, dbt and
other tools come in facets: `dataQualityAssertions` of a dataset, `test` of a run. `lineproof quality` puts values for
which the standard has no field into `params`.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.tables import QUALITY_RESULTS
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.batch import Batch
from lineproof.streaming.stages.values import time_or_day

TABLE = Table(
    contract=QUALITY_RESULTS,
    comment="Every test result in any event, from any tool.",
    cluster_by=("event_time", "name"),
    retention_column="event_time",
    schema=(
        "result_id STRING NOT NULL COMMENT 'SHA-256 of the event id and the position in the event'",
        "namespace STRING COMMENT 'namespace of the tested dataset; null if the result of a run names no dataset'",
        "name STRING COMMENT 'name of the tested dataset; null if the result of a run names no dataset'",
        "suite STRING COMMENT 'the suite of the test, if its tool states one'",
        "expectation STRING COMMENT 'the kind of test, as its tool names it'",
        "column STRING COMMENT 'null for a test of the dataset as a whole'",
        "success BOOLEAN COMMENT 'null if the test was skipped'",
        "severity STRING COMMENT 'as its tool states it'",
        "expected STRING COMMENT 'the expected value'",
        "observed STRING COMMENT 'the observed value'",
        "unexpected_count BIGINT COMMENT 'number of rows that fail the test'",
        "unexpected_share DOUBLE COMMENT 'share of rows that fail the test, from 0 to 1'",
        "samples ARRAY<STRING> COMMENT 'a few of the values that fail the test, personal data masked'",
        "error STRING COMMENT 'why the test could not run; such a test does not pass'",
        "duration_ms BIGINT COMMENT 'duration of the test'",
        "since TIMESTAMP COMMENT 'only rows written since then were tested; null for all rows'",
        "run_id STRING COMMENT 'the run of the test'",
        "job_namespace STRING COMMENT 'job of that run'",
        "job_name STRING COMMENT 'job of that run'",
        "event_time TIMESTAMP COMMENT 'eventTime of the event'",
        "event_id STRING COMMENT 'the event with the result'",
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
    result, params = F.col("result"), F.col("params")
    stated = events.where(F.col("tests").isNotNull()).select(
        *("event_id", "event_time", "run_id", "job_namespace", "job_name"),
        F.posexplode("tests").alias("facet", "test"),
    )
    return (
        stated.select("*", F.posexplode(F.from_json("test.results", _RESULTS)).alias("position", "result"))
        .withColumn("params", F.from_json(result["params"], _PARAMS))
        .select(
            *("event_id", "event_time", "run_id", "job_namespace", "job_name", "test.namespace", "test.name"),
            F.sha2(F.concat_ws("/", "event_id", "facet", "position"), 256).alias("result_id"),
            params["suite"].alias("suite"),
            F.coalesce(result["assertion"], result["type"], result["name"]).alias("expectation"),
            result["column"].alias("column"),
            _success(result).alias("success"),
            result["severity"].alias("severity"),
            result["expected"].alias("expected"),
            result["actual"].alias("observed"),
            params["unexpectedCount"].try_cast("bigint").alias("unexpected_count"),
            params["unexpectedShare"].try_cast("double").alias("unexpected_share"),
            params["samples"].alias("samples"),
            params["error"].alias("error"),
            params["durationMs"].try_cast("bigint").alias("duration_ms"),
            time_or_day(params["since"]).alias("since"),
        )
        .dropDuplicates(["result_id"])
    )


def _success(result: Column) -> Column:
    """A boolean in results of datasets, a word in results of runs."""
    word = F.lower(result["status"])
    by_word = F.when(word.isin(*_PASSED), F.lit(True)).when(word.isin(*_FAILED), F.lit(False))
    return F.coalesce(result["success"].try_cast("boolean"), by_word)


def test_id() -> Column:
    """Identifies a test over all its runs, by the columns by which the view `quality_violations` identifies it."""
    return F.sha2(F.to_json(F.struct(*_tested(), "suite", "expectation", "column", "expected")), 256)


def group_id() -> Column:
    """Equal for results that the view `ranked_results` ranks together; by chance, also for others."""
    without_suite = (F.when(F.col("suite").isNull(), F.col(name)) for name in ("expectation", "column"))
    return F.xxhash64(*_tested(), "suite", *without_suite)


def _tested() -> list[Column]:
    """The dataset; without a dataset, the job."""
    without_dataset = (
        F.when(F.col("name").isNull(), F.col(name)).alias(name) for name in ("job_namespace", "job_name")
    )
    return [F.col("namespace"), F.col("name"), *without_dataset]


def write(batch: Batch, writer: BatchWriter) -> None:
    """Append the results that are new. Copies have the same time, so only files of that time are searched."""
    if batch.tests == 0:
        return
    known = writer.read(TABLE).where(batch.event_times.condition()).select("result_id")
    writer.append(TABLE, quality_results(batch.events).join(known, "result_id", "left_anti"))
