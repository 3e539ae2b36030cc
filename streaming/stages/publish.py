"""What subscribers get: records for the topics, made of rows that the tables have already.

A record is a function of such rows and of nothing else. So a batch that is repeated after a crash publishes the same
records under the same ids, and a subscriber who drops repeats sees each of them once.
"""

import json
from collections.abc import Iterator, Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from lineproof.schemas.avro import newest
from lineproof.schemas.headers import REASON, SOURCE
from lineproof.schemas.tables import COORDINATES
from lineproof.schemas.views import view_sql
from lineproof.streaming.config import PublishConfig, Target, kafka_options
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.stages.batch import Batch
from lineproof.streaming.stages.decode import event_id
from lineproof.streaming.tables import certificates, dead_letters, quality_results

RUNS, VIOLATIONS, QUALITY = "runs", "violations", "quality"
SCHEMAS = {RUNS: "run", VIOLATIONS: "violation", QUALITY: "quality_result"}
"""What is published, and the name of its schema."""

_LENGTH_OF_UUID = b"\x48"
"""Avro's word for 36: a record is its fields in a row, and a text its length and its bytes."""


def publish(batch: Batch, runs: DataFrame | None, tables: TableReader, config: PublishConfig) -> None:
    """Send the batch's dead letters and the records for subscribers. `runs` are the rows that the batch changed.

    All topics in one write, because each write takes a while, however little is in it.
    """
    records = [*_dead_letters(batch, config.dead_letter_topic), *published(batch, runs, tables, config.targets)]
    if records:
        (
            reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), records)
            .write.format("kafka")
            .options(**kafka_options(config.kafka))
            .option("includeHeaders", "true")
            .save()
        )


def _dead_letters(batch: Batch, topic: str) -> Iterator[DataFrame]:
    """The batch's dead letters with their own headers, the reason and the coordinates; nothing without a topic."""
    if batch.unusable and topic:
        source = F.concat_ws("/", *COORDINATES)
        headers = F.array(_header(REASON, F.col("reason")), _header(SOURCE, source))
        yield dead_letters.dead_letters(batch).select(
            F.lit(topic).alias("topic"),
            *("key", "value"),
            F.concat(F.coalesce("headers", F.array()), headers).alias("headers"),
        )


def _header(name: str, value: Column) -> Column:
    return F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))


def published(
    batch: Batch, runs: DataFrame | None, tables: TableReader, to: Mapping[str, Target]
) -> Iterator[DataFrame]:
    """The records that a batch gives rise to, for the topics that there are. `runs` are the rows it touched."""
    tests = _tests(batch) if batch.tests and {VIOLATIONS, QUALITY} & to.keys() else None
    if RUNS in to and runs is not None:
        yield _records(RUNS, to, runs.where(F.col("ended_at").isNotNull()), F.col("run_id"))
    if VIOLATIONS in to:
        for violations in _violations(batch, runs, tests, tables):
            yield _records(VIOLATIONS, to, violations, F.concat_ws("/", "kind", "identity"))
    if QUALITY in to and tests is not None:
        yield _records(QUALITY, to, _results(batch, tests, tables), F.col("test_id"))


def _records(what: str, to: Mapping[str, Target], rows: DataFrame, key: Column) -> DataFrame:
    """Rows as records of a topic, each with its id."""
    schema, target = json.loads(newest(SCHEMAS[what]).text), to[what]
    _, *fields = schema["fields"]  # the first is the record's id, which is made of the others
    content = to_avro(F.struct(*(field["name"] for field in fields)), json.dumps({**schema, "fields": fields}))
    record_id = event_id(F.concat("key", F.lit(bytearray(1)), "content"))
    header = F.lit(bytearray(target.header + _LENGTH_OF_UUID))
    return rows.select(key.cast("binary").alias("key"), content.alias("content")).select(
        F.lit(target.topic).alias("topic"),
        "key",
        F.concat(header, record_id.cast("binary"), "content").alias("value"),
    )


def _tests(batch: Batch) -> DataFrame:
    """The ids of the batch's results: kept, because they are looked for in several places."""
    ids = (quality_results.test_id().alias("test_id"), quality_results.group_id().alias("group"))
    results = quality_results.quality_results(batch.events)
    return results.select("result_id", *ids, F.col("success").isNotNull().alias("has_result")).localCheckpoint(
        eager=False
    )


def _violations(
    batch: Batch, runs: DataFrame | None, tests: DataFrame | None, tables: TableReader
) -> Iterator[DataFrame]:
    """What the view `violations` says of the rows a batch touched, and what it no longer says.

    That is left out which changes without an event of its own: how certificates are linked, and what is missing.
    """
    if runs is not None:
        yield _of_ledgers(runs)
    if batch.certificates:
        yield _of_certificates(certificates.certificates(batch.events))
    if tests is not None:
        yield _of_tests(batch, tests, tables)


def _of_ledgers(runs: DataFrame) -> DataFrame:
    """Of runs that completed and had a faulty ledger at some time: no other can ever have been published."""
    difference = F.coalesce(F.col("ledger_difference").cast("string"), F.lit("not known"))
    return runs.where(F.col("completed_at").isNotNull() & F.col("had_faulty_ledger")).select(
        F.lit("ledger").alias("kind"),
        F.col("run_id").alias("identity"),
        ((F.col("state") == "COMPLETED") & (F.col("ledger_verdict") != "balanced")).alias("stands"),
        F.col("ledger_verdict").alias("verdict"),
        F.col("run_id").alias("subject"),
        F.col("run_id"),
        F.concat(F.concat_ws("/", "job_namespace", "job_name"), F.lit(": the difference is "), difference).alias(
            "detail"
        ),
        F.col("ledger.event_time").alias("stated_at"),
        F.col("ledger.event_id").alias("event_id"),
    )


def _of_certificates(rows: DataFrame) -> DataFrame:
    """A certificate is a violation by its own hash: nothing that comes later can mend it."""
    is_known = F.col("algorithm").eqNullSafe(F.lit(certificates.ALGORITHM))
    is_intact = is_known & F.col("chain_hash").eqNullSafe(F.col("computed_hash"))
    return rows.where(~is_intact).select(
        F.lit("certificate").alias("kind"),
        F.col("certificate_key").alias("identity"),
        F.lit(True).alias("stands"),
        F.when(is_known, "altered").otherwise("unknown algorithm").alias("verdict"),
        F.col("certificate_id").alias("subject"),
        F.col("run_id"),
        F.concat(F.lit("chain hash "), F.coalesce("chain_hash", F.lit("missing"))).alias("detail"),
        F.col("issued_at").alias("stated_at"),
        F.lit(None).cast("string").alias("event_id"),
    )


def _of_tests(batch: Batch, tests: DataFrame, tables: TableReader) -> DataFrame:
    """The last failure of every test that the batch has news of, and whether it is how the test last went."""
    spark = batch.facts.sparkSession
    touched = tests.where("has_result").select("group").distinct()
    results = (
        tables.read(quality_results.TABLE)
        .where(F.col("success").isNotNull())
        .withColumn("group", quality_results.group_id())
        .join(F.broadcast(touched), "group", "left_semi")
    )
    # The batch has results of each of these groups: the latest are not before its own.
    results.where(batch.since).drop("group").createOrReplaceTempView(quality_results.TABLE.name)
    latest = spark.sql(view_sql("latest_results")).select("result_id", F.lit(True).alias("stands"))
    spark.catalog.dropTempView(quality_results.TABLE.name)
    newest_first = Window.partitionBy("test_id").orderBy(*map(F.desc, ("event_time", "event_id", "result_id")))
    failures = (
        results.where(~F.col("success"))
        .withColumn("test_id", quality_results.test_id())
        .withColumn("place", F.row_number().over(newest_first))
        .where(F.col("place") == 1)
    )
    dataset, job = (
        F.concat(F.col(namespace), F.lit("/"), F.col(name))
        for namespace, name in (("namespace", "name"), ("job_namespace", "job_name"))
    )
    return failures.join(F.broadcast(latest), "result_id", "left").select(
        F.lit("quality").alias("kind"),
        F.col("test_id").alias("identity"),
        F.coalesce("stands", F.lit(False)).alias("stands"),
        F.when(F.col("error").isNull(), "failed test").otherwise("test that could not run").alias("verdict"),
        F.coalesce(dataset, job).alias("subject"),
        F.col("run_id"),
        F.concat(
            F.col("expectation"),
            F.coalesce(F.concat(F.lit(" of "), F.col("column")), F.lit("")),
            F.coalesce(F.concat(F.lit(": "), F.col("expected")), F.lit("")),
        ).alias("detail"),
        F.col("event_time").alias("stated_at"),
        F.col("event_id"),
    )


def _results(batch: Batch, tests: DataFrame, tables: TableReader) -> DataFrame:
    """The results of the batch, and of each of its tests the latest one, such that it comes last.

    It may have come before, if the batch's are late: published again, it is what compaction keeps.
    """
    in_order = ("test_id", "event_time", "event_id", "result_id")
    later = F.lead("result_id").over(Window.partitionBy("test_id").orderBy(*in_order[1:]))
    return (
        tables.read(quality_results.TABLE)
        .where(batch.since)
        .withColumn("test_id", quality_results.test_id())
        .join(F.broadcast(tests.select("test_id").distinct()), "test_id", "left_semi")
        .withColumn("is_latest", later.isNull())
        .join(F.broadcast(tests.select("result_id", F.lit(True).alias("is_mine"))), "result_id", "left")
        .where(F.col("is_mine") | F.col("is_latest"))
        .sortWithinPartitions(*in_order)
    )
