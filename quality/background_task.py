"""Suites while the job runs, at intervals, in a session of their own."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from lineproof.producers.emitter import Emitter
from lineproof.quality.change_detector import ChangeDetector
from lineproof.quality.runner import Runner, SuiteResult
from lineproof.streaming.upkeep.background_task import BackgroundTask

log = logging.getLogger(__name__)

LAST_EVENTS_S = 2.0
"""How long the emitter may take to deliver its last events. The rest stays in the spool until the next start."""


@dataclass(frozen=True)
class QualitySchedule:
    """How often the running job runs the suites: after a time, after a number of batches, or never."""

    every_s: float | None = None
    every_batches: int | None = None

    def is_due(self, seconds: float, batches: int) -> bool:
        """Whether to run, given the time and the number of batches since the last run."""
        after_time = self.every_s and seconds >= self.every_s
        return bool(after_time or (self.every_batches and batches >= self.every_batches))


class RunnerOnChanges:
    """Runs the suites if there are new events, each over what has changed since its last run."""

    def __init__(
        self,
        spark: SparkSession,
        emitter: Emitter,
        tables: str,
        checkpoints: str,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._changes = ChangeDetector(spark, tables)
        self._runner = Runner(
            spark, emitter, tables, checkpoints=checkpoints, incremental=True, is_stopping=is_stopping
        )

    def run(self, suites: Iterable[Path], report: Callable[[SuiteResult], None] = lambda _: None) -> list[SuiteResult]:
        """Run the suites; an empty list if there is nothing new to check."""
        return self._runner.run([*suites], report) if self._changes.has_new_events() else []


class QualityTask(BackgroundTask):
    """Runs all suites whenever they are due.

    Suites are found, and the emitter is connected, when they are first needed: a failure then delays no start.
    """

    pool = "quality"
    description = "The quality suites"

    def __init__(
        self,
        spark: SparkSession,
        tables: str,
        checkpoints: str,
        schedule: QualitySchedule,
        connect: Callable[[], Emitter],
        find_suites: Callable[[], Iterable[Path]],
    ) -> None:
        super().__init__(spark)
        self._tables = tables
        self._checkpoints = checkpoints
        self._schedule = schedule
        self._connect = connect
        self._find_suites = find_suites
        self._emitter: Emitter | None = None
        self._runner: RunnerOnChanges | None = None

    def _is_due(self, seconds: float, batches: int) -> bool:
        return self._schedule.is_due(seconds, batches)

    def _run_once(self) -> None:
        emitter = self._emitter = self._emitter or self._connect()
        runner = self._runner or RunnerOnChanges(
            self._spark.newSession(), emitter, self._tables, self._checkpoints, self._stopping.is_set
        )
        self._runner = None  # after a failure, the next run starts with a new session
        runner.run(self._find_suites(), _log_result)
        self._runner = runner

    def _close(self) -> None:
        if self._emitter:
            self._emitter.close(LAST_EVENTS_S)


def _log_result(result: SuiteResult) -> None:
    log.log(logging.INFO if result.passed else logging.WARNING, "Quality: %s", result)
