"""A record on which a batch fails goes into quarantine, the rest is written, and a rebuild does the same."""

import logging
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.schemas.durations import AVAILABLE_NOW
from lineproof.serving.sql import Tables
from lineproof.streaming.config import CurateConfig
from lineproof.streaming.curate import Curate
from lineproof.streaming.delta.definition import create_table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.recovery.containment import BatchTimeout, deadline
from lineproof.streaming.recovery.quarantine import is_one_of
from lineproof.streaming.run import follow
from lineproof.streaming.tables import accepted_losses, archive, jobs, runs
from tests.events import payload
from tests.streaming.records import records

RUNS = 12
POISON = 7
COMPARED = ("runs", "lineage_events", "records", "dead_letters", "jobs", "datasets")


def event(number: int) -> bytes:
    name = "poison" if number == POISON else f"job-{number}"
    return payload(run={"runId": str(uuid.UUID(int=number))}, job={"namespace": "tests", "name": name})


@pytest.fixture
def config(spark: SparkSession, tmp_path: Path) -> CurateConfig:
    """An archive with one batch."""
    tables = str(tmp_path / "tables")
    writer = BatchWriter(spark, tables, "tests", 0)
    for table in (archive.TABLE, accepted_losses.TABLE):
        create_table(spark, writer.path(table), table)
    writer.append(archive.TABLE, archive.archive(records(spark, [*map(event, range(RUNS)), b"no event"])))
    return CurateConfig(tables, str(tmp_path / "checkpoints"), AVAILABLE_NOW, AVAILABLE_NOW)


def run(spark: SparkSession, config: CurateConfig) -> None:
    curate = Curate(spark, config)
    curate.prepare()
    for start in (curate.start_curate, curate.start_graph):
        query = start()
        try:
            follow([query], curate.row_counts, lambda _: None, lambda: False)
        finally:
            query.stop()


def fail_on_poison(original: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """A fault that nobody foresaw: Spark raises an error while it computes a row."""

    def faulty(*arguments: DataFrame) -> DataFrame:
        rows = original(*arguments)
        name = F.col("name") if "name" in rows.columns else F.col("jobs")[0]["name"]
        fault = F.when(name == "poison", F.raise_error(F.lit("a fault nobody foresaw")).cast("boolean"))
        return rows.where(F.coalesce(fault, F.lit(True)))

    return faulty


def snapshot(config: CurateConfig) -> dict[str, list[str]]:
    tables = Tables(config.tables)
    return {name: sorted(map(repr, tables.query(f"SELECT * FROM {name}").rows)) for name in COMPARED}


def test_a_record_that_curate_cannot_process(
    spark: SparkSession,
    config: CurateConfig,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(runs, "single_event_runs", fail_on_poison(runs.single_event_runs))
    with caplog.at_level(logging.WARNING):
        run(spark, config)
    tables = Tables(config.tables)
    assert tables.query("SELECT count(*) FROM runs").rows == [(RUNS - 1,)]
    assert tables.query("SELECT count(*) FROM records WHERE reason IS NULL").rows == [(RUNS - 1,)]
    letters = tables.query('SELECT "offset", error, value FROM dead_letters WHERE reason = ?', "cannot_be_processed")
    [(offset, error, value)] = letters.rows
    assert (offset, bytes(value)) == (POISON, event(POISON))
    assert "a fault nobody foresaw" in error
    [(kind, subject)] = tables.query("SELECT kind, subject FROM violations").rows
    assert (kind, subject) == ("quarantine", f"events/0/{POISON}")
    assert f"Quarantined events/0/{POISON}" in caplog.text

    rebuilt = replace(
        config,
        tables=str(tmp_path / "rebuilt"),
        checkpoints=str(tmp_path / "rebuilt-checkpoints"),
        archive_root=config.tables,
    )
    monkeypatch.undo()  # the fault is corrected, and the rebuild still gives the same tables
    run(spark, rebuilt)
    assert snapshot(rebuilt) == snapshot(config)


def test_an_event_that_graph_cannot_process(
    spark: SparkSession, config: CurateConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "observed_jobs", fail_on_poison(jobs.observed_jobs))
    run(spark, config)
    tables = Tables(config.tables)
    assert tables.query("SELECT count(*) FROM runs").rows == [(RUNS,)]
    assert tables.query("SELECT count(*) FROM jobs").rows == [(RUNS - 1,)]
    assert tables.query("SELECT count(*) FROM jobs WHERE name = 'poison'").rows == [(0,)]
    [(query, event_id)] = tables.query("SELECT query, event_id FROM quarantine").rows
    assert query == "graph"
    [(name,)] = tables.query("SELECT job_name FROM lineage_events WHERE event_id = ?", event_id).rows
    assert name == "poison"


def test_a_failure_without_any_record_stops_the_query(
    spark: SparkSession, config: CurateConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is not a record, so no record goes into quarantine."""

    def broken(events: DataFrame) -> DataFrame:
        return events.select("no_such_column")

    monkeypatch.setattr(runs, "single_event_runs", broken)
    with pytest.raises((PySparkException, Py4JJavaError), match="no_such_column"):
        run(spark, config)
    assert Tables(config.tables).query("SELECT count(*) FROM quarantine").rows == [(0,)]


def test_a_batch_that_takes_too_long_is_cancelled(spark: SparkSession) -> None:
    spark.sparkContext.setJobGroup("tests", "endless", interruptOnCancel=False)
    try:
        endless = spark.range(10**7).crossJoin(spark.range(10**7).withColumnRenamed("id", "other"))
        with pytest.raises(BatchTimeout, match="cancelled after 1 s"), deadline(spark, 1):
            endless.where("id + other = -1").count()
        with deadline(spark, 60):
            assert spark.range(3).count() == 3
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", "")


def test_conditions_name_records_by_partition(spark: SparkSession) -> None:
    rows = [("a", 0, 1), ("a", 0, 2), ("a", 1, 1), ("b", 0, 1)]
    frame = spark.createDataFrame(rows, "topic STRING, partition INT, offset BIGINT")
    wanted = [("a", 0, 2), ("a", 1, 1)]
    found = frame.where(is_one_of(("topic", "partition", "offset"), wanted)).collect()
    assert sorted(tuple(row) for row in found) == wanted
    assert frame.where(is_one_of(("topic",), [])).isEmpty()
