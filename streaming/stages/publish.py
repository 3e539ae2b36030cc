"""Publish records for subscribers, made from rows that are already committed to the tables.

A record depends on those rows only. So a batch that is repeated after a crash publishes the same records with the same
ids, and a subscriber that drops known ids sees each record once.
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
from lineproof.schemas.verdicts import CERTIFICATE_INTACT
from lineproof.schemas.views import view_over
from lineproof.streaming.config import PublishConfig, Target, kafka_options
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.stages.batch import Batch
from lineproof.streaming.stages.decode import event_id
from lineproof.streaming.stages.record_size import fits, fitting_key, fitting_letter, shortened, size_of
from lineproof.streaming.tables import certificates, dead_letters, quality_results

RUNS, VIOLATIONS, QUALITY = "runs", "violations", "quality"
SCHEMAS = {RUNS: "run", VIOLATIONS: "violation", QUALITY: "quality_result"}
"""The published topics, with the name of their schema."""

_UUID_BYTES, _UUID_LENGTH = 36, b"\x48"
"""36, and 36 in Avro. An Avro record is the sequence of its fields; a string is its length and its bytes."""
_FALSE, _TRUE, _NOTHING = bytearray(b"\x00"), bytearray(b"\x01"), bytearray()


def publish(batch: Batch, runs: DataFrame | None, tables: TableReader, config: PublishConfig) -> None:
    """Send the batch's dead letters and the records for subscribers. `runs` are the rows that the batch changed.

    All topics are sent in one write, because even a small write takes a while.
    """
    records = [*_dead_letters(batch, config.dead_letters), *published(batch, runs, tables, config.targets)]
    if records:
        (
            reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), records)
            .write.format("kafka")
            .options(**kafka_options(config.kafka))
            .option("includeHeaders", "true")
            .save()
        )


def _dead_letters(batch: Batch, target: Target | None) -> Iterator[DataFrame]:
    """The batch's dead letters with their own headers, the reason and the coordinates; nothing without a topic."""
    if batch.unusable and target:
        source = F.concat_ws("/", *COORDINATES)
        added = F.array(_header(REASON, F.col("reason")), _header(SOURCE, source))
        yield dead_letters.dead_letters(batch).select(
            F.lit(target.topic).alias("topic"), *fitting_letter(F.col("headers"), added, target.max_bytes)
        )


def _header(name: str, value: Column) -> Column:
    return F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))


def published(
    batch: Batch, runs: DataFrame | None, tables: TableReader, targets: Mapping[str, Target]
) -> Iterator[DataFrame]:
    """The records of a batch for each configured topic. `runs` are the rows that the batch touched."""
    tests = _tests(batch) if batch.tests and {VIOLATIONS, QUALITY} & targets.keys() else None
    if RUNS in targets and runs is not None:
        yield _records(RUNS, targets, runs.where(F.col("ended_at").isNotNull()), F.col("run_id"))
    if VIOLATIONS in targets:
        for violations in _violations(batch, runs, tests, tables):
            yield _records(VIOLATIONS, targets, violations, F.concat_ws("/", "kind", "identity"))
    if QUALITY in targets and tests is not None:
        yield _records(QUALITY, targets, _results(batch, tests, tables), F.col("test_id"))


def _records(topic: str, targets: Mapping[str, Target], rows: DataFrame, key: Column) -> DataFrame:
    """Rows as Avro records of a topic, each with its record id; shortened if they would be too large for the topic."""
    schema, target = json.loads(newest(SCHEMAS[topic]).text), targets[topic]
    # The first field is the record id, which is computed from the others. The last is `truncated`: see below.
    _, *fields, _ = schema["fields"]
    names = [field["name"] for field in fields]
    header = target.header + _UUID_LENGTH
    found = rows.select(fitting_key(key.cast("binary"), target.max_bytes).alias("key"), *names)

    def avro(*columns: Column | str) -> Column:
        return to_avro(F.struct(*columns), json.dumps({**schema, "fields": fields}))

    size = size_of(F.col("key"), F.col("content")) + F.lit(len(header) + _UUID_BYTES + 1)
    is_cut = ~fits(target.max_bytes, size)
    cut = avro(*shortened(found.schema.fields[1:], target.max_bytes))
    # A whole record has the id that it had before there was `truncated`.
    marked = F.concat(
        "key", F.lit(bytearray(1)), "content", F.when(F.col("is_cut"), F.lit(_TRUE)).otherwise(F.lit(_NOTHING))
    )
    return (
        found.withColumn("content", avro(*names))
        .withColumn("is_cut", is_cut)
        .select("key", F.when(F.col("is_cut"), cut).otherwise(F.col("content")).alias("content"), "is_cut")
        .select(
            F.lit(target.topic).alias("topic"),
            "key",
            F.concat(
                F.lit(bytearray(header)),
                event_id(marked).cast("binary"),
                "content",
                F.when(F.col("is_cut"), F.lit(_TRUE)).otherwise(F.lit(_FALSE)),
            ).alias("value"),
        )
    )


def _tests(batch: Batch) -> DataFrame:
    """The ids of the batch's test results. Checkpointed, because several queries read them."""
    ids = (quality_results.test_id().alias("test_id"), quality_results.group_id().alias("group"))
    results = quality_results.quality_results(batch.events)
    return results.select("result_id", *ids, F.col("success").isNotNull().alias("has_result")).localCheckpoint(
        eager=False
    )


def _violations(
    batch: Batch, runs: DataFrame | None, tests: DataFrame | None, tables: TableReader
) -> Iterator[DataFrame]:
    """The violations of the rows that a batch touched, each with its `identity`, whether they stand or not.

    Violations that change without an event of their own are not published: links of certificates, missing records.
    """
    if runs is not None:
        yield _view("ledger_violations", runs=runs).withColumn("identity", F.col("run_id"))
    if batch.certificates:
        yield _certificate_violations(certificates.certificates(batch.events))
    if tests is not None:
        results = _results_of_touched_groups(tests, tables)
        yield _view("quality_violations", quality_results=results).withColumn("identity", quality_results.test_id())


def _certificate_violations(rows: DataFrame) -> DataFrame:
    """Certificates whose own hash is wrong. No later event can change that."""
    hashes = _view("certificate_hashes", certificates=rows).withColumnRenamed("hash_verdict", "verdict")
    checks = hashes.where(F.col("verdict") != CERTIFICATE_INTACT)
    return _view("certificate_violations", certificate_checks=checks).withColumn("identity", F.col("certificate_key"))


def _results_of_touched_groups(tests: DataFrame, tables: TableReader) -> DataFrame:
    """All results that are ranked together with a result of the batch."""
    touched = tests.where("has_result").select("group").distinct()
    return (
        tables.read(quality_results.TABLE)
        .withColumn("group", quality_results.group_id())
        .join(F.broadcast(touched), "group", "left_semi")
    )


def _view(name: str, **tables: DataFrame) -> DataFrame:
    """The rows of a view over these tables."""
    [spark, *_] = [table.sparkSession for table in tables.values()]
    return spark.sql(view_over(name, tables), None, **tables)


def _results(batch: Batch, tests: DataFrame, tables: TableReader) -> DataFrame:
    """The results of the batch and the latest result of each of its tests, in order, so that the latest comes last.

    If the results of the batch are late, the latest one was published before. It is published again, so that compaction
    keeps it.
    """
    in_order = ("test_id", "event_time", "event_id", "result_id")
    later = F.lead("result_id").over(Window.partitionBy("test_id").orderBy(*in_order[1:]))
    return (
        tables.read(quality_results.TABLE)
        .where(batch.since())
        .withColumn("test_id", quality_results.test_id())
        .join(F.broadcast(tests.select("test_id").distinct()), "test_id", "left_semi")
        .withColumn("is_latest", later.isNull())
        .join(F.broadcast(tests.select("result_id", F.lit(True).alias("is_in_batch"))), "result_id", "left")
        .where(F.col("is_in_batch") | F.col("is_latest"))
        .sortWithinPartitions(*in_order)
    )
