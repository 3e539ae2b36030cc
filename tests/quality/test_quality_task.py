"""Suites in the running job: they do not delay it, and their own results do not start them again."""

import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lineproof.producers.emitter import Emitter
from lineproof.quality.background_task import QualitySchedule, QualityTask, RunnerOnChanges
from lineproof.schemas.record import Record
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.tables import runs
from lineproof.streaming.upkeep.background_task import STOP_TIMEOUT_S
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.tools import RunJob
from tests.streaming.curated import curate
from tests.streaming.story import event, story
from tests.transport import Memory

SUITE = "table: runs\nexpectations:\n  - expect_column_values_to_not_be_null: {column: run_id}\n"
HANGING = """
table: runs
expectations:
  - unexpected_rows_expectation:
      unexpected_rows_query: >
        SELECT run_id FROM {batch} WHERE java_method('java.lang.Thread', 'sleep', 600000L + length(run_id)) = ''
"""


def write_suite(directory: Path, text: str) -> Path:
    file = directory / "suite.yaml"
    file.write_text(text)
    return file


def wait_until(is_true: Callable[[], bool], timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_results_of_suites_do_not_start_them_again(
    spark: SparkSession, sound: TableReader, emitter: Emitter, memory: Memory, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path)
    shutil.copytree(Path(sound.path(runs.TABLE)).parent, settings.tables_path)
    suite = write_suite(tmp_path, SUITE)
    runner = RunnerOnChanges(spark.newSession(), emitter, settings.tables_path, settings.checkpoints_path)
    assert [result.passed for result in runner.run([suite])] == [True]
    assert memory.types == ["START", "COMPLETE"]

    results = [envelope.encode() for envelope in memory.envelopes]
    curate(spark, settings.tables_path, 1, results, offset=1000)
    tested = "SELECT state FROM runs WHERE job_name = 'quality.suite'"
    assert Tables(settings.tables_path).query(tested).rows == [("COMPLETED",)]
    assert runner.run([suite]) == []

    other = event("00000000-0000-0000-0000-000000000077", "START", 30, "load")
    curate(spark, settings.tables_path, 2, [*results, other], offset=2000)
    assert [result.passed for result in runner.run([suite])] == [True]
    assert runner.run([suite]) == []


def test_a_suite_that_never_ends_delays_neither_the_job_nor_its_shutdown(
    spark: SparkSession,
    sound: TableReader,
    settings: Settings,
    run_job: RunJob,
    emitter: Emitter,
    memory: Memory,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    suite, tables = write_suite(tmp_path, HANGING), tmp_path / "tables"
    schedule = QualitySchedule(every_s=0.001)
    task = QualityTask(spark, str(tables), settings.checkpoints_path, schedule, lambda: emitter, lambda: [suite])
    with caplog.at_level(logging.WARNING), task:
        task.start()
        wait_until(lambda: "failed and will be retried" in caplog.text)  # there are no tables yet
        tables.symlink_to(Path(sound.path(runs.TABLE)).parent)
        wait_until(lambda: bool(memory.types) and bool(spark.sparkContext.statusTracker().getActiveJobsIds()))
        KafkaCluster(settings.kafka).send(settings.topics.events, [Record(b"key", value) for value in story()[:2]])
        run_job(settings)
        assert Tables(settings.tables_path).query("SELECT count(*) FROM runs").rows == [(1,)]
        assert memory.types == ["START"], "the suite is still running"
        began = time.monotonic()
    assert time.monotonic() - began < STOP_TIMEOUT_S
    assert memory.types == ["START", "ABORT"]
