"""What is done every so often beside the running job, off its hot path."""

import logging
import threading
import time
from abc import ABC, abstractmethod
from types import TracebackType

from pyspark.sql import SparkSession

from lineproof.schemas.sanitise import sanitise
from lineproof.streaming.run import Progress

log = logging.getLogger(__name__)

POLL_S = 0.5
PATIENCE_S = 10.0
"""How long the end of the job waits for what is being given up. The thread does not keep the process alive."""


class Watch(ABC):
    """Takes a turn whenever one is due, in a thread and a scheduler pool of its own.

    Whatever happens here stays here: a turn that is slow, fails or never ends delays nothing but the next one.
    """

    pool: str
    """Of Spark's scheduler, and the group of the jobs that are given up at the end."""
    about: str
    """What it does, in the words of a message that it failed."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name=self.pool, daemon=True)
        self._batches = 0

    @abstractmethod
    def _turn(self) -> None:
        """What is done. It may raise: it is tried again when the next turn is due."""

    @abstractmethod
    def _is_due(self, seconds: float, batches: int) -> bool:
        """Whether it is time, so long and so many batches after the end of the last turn."""

    def _close(self) -> None:  # noqa: B027
        """Called at the end, by those who have something to close."""

    def start(self) -> None:
        """Begin; the first turn comes when it is due."""
        self._thread.start()

    def count(self, batch: Progress) -> None:
        """Take note of a finished batch."""
        self._batches += batch.query == "curate"

    def __enter__(self) -> "Watch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give up what is under way."""
        self._stopping.set()
        deadline = time.monotonic() + PATIENCE_S
        while self._thread.is_alive() and time.monotonic() < deadline:
            self._spark.sparkContext.cancelJobGroup(self.pool)
            self._thread.join(POLL_S)

    def _work(self) -> None:
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", self.pool)
        self._spark.sparkContext.setJobGroup(self.pool, self.about, interruptOnCancel=True)
        while self._wait():
            try:
                self._turn()
            except Exception as error:
                if not self._stopping.is_set():
                    log.warning("%s could not be run, and will be tried again: %s", self.about, _in_short(error))
        self._close()

    def _wait(self) -> bool:
        """Wait until a turn is due; False if it is time to stop."""
        batches, began = self._batches, time.monotonic()
        while not self._stopping.wait(POLL_S):
            if self._is_due(time.monotonic() - began, self._batches - batches):
                return True
        return False


def _in_short(error: Exception) -> str:
    return sanitise((str(error).splitlines() or [type(error).__name__])[0])
