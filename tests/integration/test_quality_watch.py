"""Suites beside the running job: off its hot path, and without end neither in time nor in number."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lineproof.kafka import Kafka
from lineproof.producers.emitter import Emitter
from lineproof.quality_watch import PATIENCE_S, QualityWatch, Turns
from lineproof.settings import Settings
from lineproof.sql import Tables
from tests.integration.tools import RunJob
from tests.streaming.story import story
from tests.transport import Memory

SUITE = "table: runs\nexpectations:\n  - expect_column_values_to_not_be_null: {column: run_id}\n"
HANGING = """
table: runs
expectations:
  - unexpected_rows_expectation:
      unexpected_rows_query: >
        SELECT run_id FROM {batch} WHERE java_method('java.lang.Thread', 'sleep', 600000L + length(run_id)) = ''
"""


def written(directory: Path, text: str) -> Path:
    file = directory / "suite.yaml"
    file.write_text(text)
    return file


def send(settings: Settings, values: list[bytes]) -> None:
    Kafka(settings.kafka).send(settings.topics.events, [(b"key", value) for value in values])


def await_that(holds: Callable[[], bool], timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_results_of_tests_are_no_reason_to_test_again(
    spark: SparkSession, settings: Settings, run_job: RunJob, emitter: Emitter, memory: Memory, tmp_path: Path
) -> None:
    suite = written(tmp_path, SUITE)
    turns = Turns(spark.newSession(), settings, emitter)
    send(settings, story()[:2])
    run_job(settings)
    assert [outcome.is_sound for outcome in turns.take([suite])] == [True]
    assert memory.types == ["START", "COMPLETE"]

    def come_back() -> None:
        send(settings, [envelope.encode() for envelope in memory.envelopes])
        run_job(settings)

    come_back()
    rows = Tables(settings.tables_path).query("SELECT job_name, state FROM runs WHERE job_name LIKE 'quality.%'").rows
    assert rows == [("quality.suite", "COMPLETED")]
    assert turns.take([suite]) == []
    send(settings, story()[2:3])
    come_back()
    assert [outcome.is_sound for outcome in turns.take([suite])] == [True]
    assert turns.take([suite]) == []


def test_a_suite_that_never_ends_holds_up_neither_the_job_nor_its_end(
    spark: SparkSession,
    settings: Settings,
    run_job: RunJob,
    emitter: Emitter,
    memory: Memory,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    suite = written(tmp_path, HANGING)
    often = settings.model_copy(update={"quality_trigger": "1ms"})
    with caplog.at_level(logging.WARNING), QualityWatch(spark, often, lambda: emitter, lambda: [suite]) as watch:
        watch.start()
        await_that(lambda: "will be tried again" in caplog.text)  # there are no tables yet
        send(settings, story()[:2])
        run_job(settings)
        await_that(lambda: memory.types == ["START"])
        await_that(lambda: bool(spark.sparkContext.statusTracker().getJobIdsForGroup("quality")))
        send(settings, story()[2:4])
        run_job(settings)
        assert Tables(settings.tables_path).query("SELECT count(*) FROM runs").rows == [(2,)]
        assert memory.types == ["START"], "the suite is still at it"
        began = time.monotonic()
    assert time.monotonic() - began < PATIENCE_S
    assert memory.types == ["START", "ABORT"]
