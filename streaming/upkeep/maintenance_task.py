"""Maintenance beside the running job: small files every hour, all of it every week."""

import json
import time
from collections.abc import Callable
from datetime import timedelta

from pyspark.sql import SparkSession
from rich.markup import escape

from lineproof.cli.output import err
from lineproof.settings import Settings
from lineproof.streaming.delta.files import Directory
from lineproof.streaming.upkeep.background_task import Watch
from lineproof.streaming.upkeep.maintenance import TASKS, Maintenance, Outcome

LAST = "maintenance/last"
"""Below the checkpoints: when each task was last done, so that a job that is often started again does them, too."""


AGAIN_S = 600.0
"""So long after a failure it is tried again."""


class Diary:
    """When maintenance was last done."""

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        self._files = Directory(spark, settings.checkpoints_path)

    def read(self) -> dict[str, float]:
        """The times by what was done: `compact`, or `all`. Where nothing is known, it is counted from now on."""
        text = self._files.read(LAST)
        last = dict.fromkeys(("compact", "all"), time.time()) | (json.loads(text) if text else {})
        if not text:
            self._files.write(LAST, json.dumps(last))
        return last

    def note(self, *done: str) -> None:
        """It was done now."""
        self._files.write(LAST, json.dumps(self.read() | dict.fromkeys(done, time.time())))


def maintenance_of(
    spark: SparkSession,
    settings: Settings,
    *,
    is_dry: bool = False,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Maintenance:
    """As the settings say."""
    return Maintenance(
        spark,
        settings.tables_path,
        settings.checkpoints_path,
        settings.retention.days(),
        timedelta(seconds=settings.retention.files_seconds),
        is_dry=is_dry,
        is_stopping=is_stopping,
    )


class MaintenanceWatch(Watch):
    """Compacts, and does all that is maintenance, each as often as the settings say."""

    pool = "maintenance"
    about = "Maintenance"

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        super().__init__(spark)
        self._settings = settings
        self._diary = Diary(spark, settings)
        self._last = self._diary.read()
        self._tried_at = 0.0

    def _is_due(self, seconds: float, batches: int) -> bool:  # noqa: ARG002
        return bool(self._due())

    def _due(self) -> list[str]:
        """What has not been done for so long as its trigger says, and has not just failed."""
        now = time.time()
        return [
            what
            for what, seconds in self._settings.maintenance_seconds.items()
            if seconds and now - self._last[what] >= seconds and now - self._tried_at >= min(seconds, AGAIN_S)
        ]

    def _turn(self) -> None:
        is_all = "all" in self._due()
        self._tried_at = time.time()
        maintenance = maintenance_of(self._spark, self._settings, is_stopping=self._stopping.is_set)
        outcomes = maintenance.run(TASKS if is_all else ("compact",))
        if self._stopping.is_set():
            return
        done = ("all", "compact") if is_all else ("compact",)
        self._diary.note(*done)
        self._last |= dict.fromkeys(done, time.time())
        err.print(escape(in_short(outcomes)))


def in_short(outcomes: list[Outcome]) -> str:
    """One line on all tables."""
    before, after = sum(one.before.files for one in outcomes), sum(one.after.files for one in outcomes)
    seconds = sum(one.seconds for one in outcomes)
    return f"maintenance: {before} files, now {after}, in {seconds:.1f} s"
