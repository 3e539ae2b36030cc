"""The suites beside the running job, off its hot path."""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from pyspark.sql import SparkSession

from lineproof.connection import emitter_of
from lineproof.local.quality_run import PRODUCT, suites_of
from lineproof.producers.emitter import Emitter
from lineproof.quality.change_detector import News
from lineproof.quality.runner import Outcome, Runner
from lineproof.settings import Settings
from lineproof.streaming.upkeep.background_task import Watch

log = logging.getLogger(__name__)

LAST_EVENTS_S = 2.0
"""How long the last events may take to their endpoint; what is left is in the spool, for the next start."""


class QualityWatch(Watch):
    """Runs all suites every so often, in a session of its own.

    Each looks only at what has changed since its last run, where its expectations allow that.
    """

    pool = "quality"
    about = "The suites"

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        connect: Callable[[], Emitter] | None = None,
        find: Callable[[], Iterable[Path]] | None = None,
    ) -> None:
        super().__init__(spark)
        self._settings = settings
        self._connect = connect or (lambda: emitter_of(settings.with_product(PRODUCT)))
        self._find = find or (lambda: suites_of(settings).values())
        self._emitter: Emitter | None = None
        self._turns: Turns | None = None

    def _is_due(self, seconds: float, batches: int) -> bool:
        settings = self._settings
        is_time = settings.quality_seconds and seconds >= settings.quality_seconds
        return bool(is_time or (settings.quality_batches and batches >= settings.quality_batches))

    def _turn(self) -> None:
        emitter = self._emitter = self._emitter or self._connect()
        turns = self._turns or Turns(self._spark.newSession(), self._settings, emitter, self._stopping.is_set)
        self._turns = None  # where one fails, the next begins anew
        turns.take(self._find(), _tell)
        self._turns = turns

    def _close(self) -> None:
        if self._emitter:
            self._emitter.close(LAST_EVENTS_S)


class Turns:
    """One turn after the other, each over what has changed."""

    def __init__(
        self, spark: SparkSession, settings: Settings, emitter: Emitter, is_stopping: Callable[[], bool] = lambda: False
    ) -> None:
        self._news = News(spark, settings.tables_path)
        self._runner = Runner(
            spark,
            emitter,
            settings.tables_path,
            checkpoints=settings.checkpoints_path,
            remembers=True,
            is_stopping=is_stopping,
        )

    def take(self, suites: Iterable[Path], report: Callable[[Outcome], None] = lambda _: None) -> list[Outcome]:
        """Run the suites, if there is news."""
        return self._runner.run([*suites], report) if self._news.have_come() else []


def _tell(outcome: Outcome) -> None:
    log.log(logging.INFO if outcome.is_sound else logging.WARNING, "Quality: %s", outcome)
