"""The suites beside the running job, off its hot path."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

from pyspark.sql import SparkSession

from lineproof.connection import emitter_of
from lineproof.producers.emitter import Emitter
from lineproof.producers.sanitise import sanitise
from lineproof.quality.news import News
from lineproof.quality.runner import Outcome, Runner
from lineproof.quality_run import PRODUCT, suites_of
from lineproof.settings import Settings
from lineproof.streaming.job import Progress

log = logging.getLogger(__name__)

POOL = "quality"
"""Of Spark's scheduler, and the group of the jobs that are given up at the end."""
POLL_S = 0.5
PATIENCE_S = 10.0
"""How long the end of the job waits for a suite that is being given up. The thread does not keep the process alive."""
LAST_EVENTS_S = 2.0
"""How long the last events may take to their endpoint; what is left is in the spool, for the next start."""


class QualityWatch:
    """Runs all suites every so often, in a thread, a session and a scheduler pool of its own.

    Whatever happens here stays here: a suite that is slow, fails or never ends delays and stops nothing but the next
    suite. Each looks only at what has changed since its last run, where its expectations allow that.
    """

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        connect: Callable[[], Emitter] | None = None,
        find: Callable[[], Iterable[Path]] | None = None,
    ) -> None:
        self._spark = spark
        self._settings = settings
        self._connect = connect or (lambda: emitter_of(settings.with_product(PRODUCT)))
        self._find = find or (lambda: suites_of(settings).values())
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name=POOL, daemon=True)
        self._batches = 0

    def start(self) -> None:
        """Begin; the first turn comes when the first interval is over."""
        self._thread.start()

    def count(self, batch: Progress) -> None:
        """Take note of a finished batch."""
        self._batches += batch.query == "curate"

    def __enter__(self) -> "QualityWatch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give up what is under way."""
        self._stopping.set()
        deadline = time.monotonic() + PATIENCE_S
        while self._thread.is_alive() and time.monotonic() < deadline:
            self._spark.sparkContext.cancelJobGroup(POOL)
            self._thread.join(POLL_S)

    def _work(self) -> None:
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", POOL)
        self._spark.sparkContext.setJobGroup(POOL, "suites of expectations", interruptOnCancel=True)
        emitter: Emitter | None = None
        turns: Turns | None = None
        while self._wait():
            try:
                emitter = emitter or self._connect()
                turns = turns or Turns(self._spark.newSession(), self._settings, emitter, self._stopping.is_set)
                turns.take(self._find(), _tell)
            except Exception as error:
                turns = None
                if not self._stopping.is_set():
                    log.warning("The suites could not be run, and will be tried again: %s", _in_short(error))
        if emitter:
            emitter.close(LAST_EVENTS_S)

    def _wait(self) -> bool:
        """Wait until it is time again, counted from the end of the last turn; False if it is time to stop."""
        settings, batches, began = self._settings, self._batches, time.monotonic()
        while not self._stopping.wait(POLL_S):
            if settings.quality_batches and self._batches - batches >= settings.quality_batches:
                return True
            if settings.quality_seconds and time.monotonic() - began >= settings.quality_seconds:
                return True
        return False


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


def _in_short(error: Exception) -> str:
    return sanitise((str(error).splitlines() or [type(error).__name__])[0])
