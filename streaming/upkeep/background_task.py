"""Work that runs at intervals next to the streaming queries, in a thread and a scheduler pool of its own."""

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from lineproof.schemas.sanitise import sanitise
from lineproof.streaming.run import Progress

log = logging.getLogger(__name__)

POLL_S = 0.5
STOP_TIMEOUT_S = 10.0
"""How long the end of the job waits for a cancelled task. Its thread does not keep the process alive."""

Report = Callable[[Progress], None]


class BackgroundTask(ABC):
    """Runs whenever it is due.

    A run that is slow, fails or never ends delays only the next run of the same task, never the job.
    """

    pool: str
    """The scheduler pool, and the group of the Spark jobs that are cancelled at the end."""
    description: str
    """The subject of the warning that a run failed."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._loop, name=self.pool, daemon=True)
        self._batches = 0

    @abstractmethod
    def _run_once(self) -> None:
        """Do the work. If it raises, it is repeated when it is due again."""

    @abstractmethod
    def _is_due(self, seconds: float, batches: int) -> bool:
        """Whether to run, given the time and the number of curate batches since the last run."""

    def _close(self) -> None:  # noqa: B027
        """Release resources. Called once, after the last run."""

    def start(self) -> None:
        """Start the thread. The first run comes when it is due."""
        self._thread.start()

    def count_batch(self, batch: Progress) -> None:
        """Count a finished batch of curate."""
        self._batches += batch.query == "curate"

    def __enter__(self) -> "BackgroundTask":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel the current run."""
        self._stopping.set()
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while self._thread.is_alive() and time.monotonic() < deadline:
            with suppress(Py4JError, OSError):  # the JVM has ended
                self._spark.sparkContext.cancelJobGroup(self.pool)
            self._thread.join(POLL_S)

    def _loop(self) -> None:
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", self.pool)
        self._spark.sparkContext.setJobGroup(self.pool, self.description, interruptOnCancel=True)
        while self._wait_until_due():
            try:
                self._run_once()
            except Exception as error:
                if not self._stopping.is_set():
                    log.warning("%s failed and will be retried: %s", self.description, _first_line(error))
        self._close()

    def _wait_until_due(self) -> bool:
        """Return True when the task is due, False when it is to stop."""
        batches, began = self._batches, time.monotonic()
        while not self._stopping.wait(POLL_S):
            if self._is_due(time.monotonic() - began, self._batches - batches):
                return True
        return False


@contextmanager
def background_tasks(
    tasks: Iterable[BackgroundTask], report: Report, started: Callable[[], None]
) -> Iterator[tuple[Report, Callable[[], None]]]:
    """Give the job callbacks that start the tasks with it and count its batches; cancel the tasks at the end."""
    with ExitStack() as stack:
        entered = [stack.enter_context(task) for task in tasks]

        def report_and_count(batch: Progress) -> None:
            for task in entered:
                task.count_batch(batch)
            report(batch)

        def start_all() -> None:
            for task in entered:
                task.start()
            started()

        yield report_and_count, start_all


def _first_line(error: Exception) -> str:
    return sanitise((str(error).splitlines() or [type(error).__name__])[0])
