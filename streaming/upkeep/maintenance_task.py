"""Maintenance while the job runs: compaction at short intervals, all tasks at long ones."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from lineproof.streaming.delta.private_api.directory import Directory
from lineproof.streaming.upkeep.background_task import BackgroundTask
from lineproof.streaming.upkeep.maintenance import TASKS, Maintenance, MaintenanceResult

LAST_RUNS = "maintenance/last"
"""Below the checkpoints: when maintenance last ran, so that a job that restarts often still does it."""

RETRY_AFTER_S = 600.0
"""The pause after a failure, unless the interval is shorter."""


@dataclass(frozen=True)
class MaintenanceSchedule:
    """How often the running job compacts, and how often it does all tasks. None for never."""

    compact_every_s: float | None
    full_every_s: float | None

    def __bool__(self) -> bool:
        return bool(self.compact_every_s or self.full_every_s)

    def due(self, last_runs: dict[str, float], last_attempt: float, now: float) -> list[str]:
        """`compact` and `all`: those whose interval has passed, unless the last attempt has just failed."""
        intervals = {"compact": self.compact_every_s, "all": self.full_every_s}
        return [
            name
            for name, seconds in intervals.items()
            if seconds and now - last_runs[name] >= seconds and now - last_attempt >= min(seconds, RETRY_AFTER_S)
        ]


class LastRuns:
    """When maintenance last ran, by `compact` and `all`, stored with the checkpoints."""

    def __init__(self, spark: SparkSession, checkpoints: str) -> None:
        self._files = Directory(spark, checkpoints)

    def read(self) -> dict[str, float]:
        """The times of the last runs. On the first start, both intervals begin now."""
        text = self._files.read(LAST_RUNS)
        times = dict.fromkeys(("compact", "all"), time.time()) | (json.loads(text) if text else {})
        if not text:
            self._files.write(LAST_RUNS, json.dumps(times))
        return times

    def record(self, *, is_full: bool) -> dict[str, float]:
        """Store that a run has just finished. A full run compacts, too."""
        times = self.read() | dict.fromkeys(("compact", "all") if is_full else ("compact",), time.time())
        self._files.write(LAST_RUNS, json.dumps(times))
        return times


class MaintenanceTask(BackgroundTask):
    """Compacts, or runs all maintenance tasks, whenever the schedule says so.

    `maintenance` makes a Maintenance that asks the given function whether to stop.
    """

    pool = "maintenance"
    description = "Maintenance"

    def __init__(
        self,
        spark: SparkSession,
        checkpoints: str,
        schedule: MaintenanceSchedule,
        maintenance: Callable[[Callable[[], bool]], Maintenance],
        report: Callable[[str], None],
    ) -> None:
        super().__init__(spark)
        self._schedule = schedule
        self._maintenance = maintenance
        self._report = report
        self._stored = LastRuns(spark, checkpoints)
        self._last_runs = self._stored.read()
        self._last_attempt = 0.0

    def _is_due(self, seconds: float, batches: int) -> bool:  # noqa: ARG002
        return bool(self._due())

    def _due(self) -> list[str]:
        return self._schedule.due(self._last_runs, self._last_attempt, time.time())

    def _run_once(self) -> None:
        is_full = "all" in self._due()
        self._last_attempt = time.time()
        results = self._maintenance(self._stopping.is_set).run(TASKS if is_full else ("compact",))
        if self._stopping.is_set():
            return
        self._last_runs = self._stored.record(is_full=is_full)
        self._report(summary(results))


def summary(results: Sequence[MaintenanceResult]) -> str:
    """One line about all tables."""
    before, after = sum(result.before.files for result in results), sum(result.after.files for result in results)
    seconds = sum(result.seconds for result in results)
    return f"maintenance: {before} files, now {after}, in {seconds:.1f} s"
