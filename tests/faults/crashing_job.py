"""Run the job and kill it with SIGKILL at a given point. Run as a program: CONFIG POINT WHICH.

`points` lists them: before and after the commit of every table, the published records, and each query's checkpoint.
Writes from Python are wrapped. For writes from the JVM, a thread watches for the file that marks the point.
"""

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from lineproof.local.job_runner import run_job
from lineproof.schemas import tables as contracts
from lineproof.settings import Settings, load
from lineproof.streaming.curate import Curate
from lineproof.streaming.tables import archive, registry

TOPICS = "topics"
"""The point at which curate publishes records, after its tables are written."""

AT_RANDOM = "at-random-"
"""Followed by the seconds between the start of the job and the kill."""

BatchFunction = Callable[[DataFrame, int], None]


def points() -> list[str]:
    """Every commit point of a batch, from the topic to the last checkpoint."""
    committed = [archive.TABLE.name, "ingest", *_committed_by("curate"), *_committed_by("graph")]
    return [f"{when}-{name}" for name in committed for when in ("before", "after")]


def _committed_by(query: str) -> list[str]:
    tables = [contract.name for contract in contracts.DERIVED if contract.written_by == query]
    return [*tables, *([TOPICS] if query == contracts.CURATE else []), query]


def die() -> None:
    """Kill this process and the JVM, so that neither can clean up."""
    os.killpg(0, signal.SIGKILL)


class KillPoint:
    """Kills the job at a point: in the first batch that reaches it, or in the first batch that is new in this start."""

    def __init__(self, settings: Settings, point: str, which: str) -> None:
        self._point = point
        self._only_new = which == "new"
        self._checkpoints = Path(settings.checkpoints_path)
        self._archive_log = Path(settings.tables_path, archive.TABLE.name, "_delta_log")
        self._query = "graph" if point.split("-", 1)[1] in _committed_by("graph") else "curate"
        self._batches: dict[str, int] = {}
        """The last batch that each query has begun. The queries may run at the same time."""
        self._planned_before = -1

    def install(self) -> None:
        """Wrap the functions with which Python writes."""
        for module in registry.DERIVED:
            module.write = self._around(module.write, module.TABLE.name)  # type: ignore[method-assign]
        Curate._publish = self._around(Curate._publish, TOPICS)  # type: ignore[method-assign]
        for_each = DataStreamWriter.foreachBatch

        def for_each_batch(writer: DataStreamWriter, function: BatchFunction) -> DataStreamWriter:
            query = function.__name__.strip("_")

            def counted(rows: DataFrame, number: int) -> None:
                self._batches[query] = number
                function(rows, number)
                self._reach(f"before-{query}")

            return for_each(writer, counted)

        DataStreamWriter.foreachBatch = for_each_batch  # type: ignore[assignment, method-assign]

    def started(self) -> None:
        """Watch the files that the JVM writes. Called after the tables have been created."""
        planned = self._checkpoints / self._query / "offsets"
        self._planned_before = max((int(name) for name in _names(planned) if name.isdigit()), default=-1)
        ingest, curate, graph = (self._checkpoints / name for name in ("ingest", "curate", "graph"))
        files = {
            "before-archive": (ingest / "offsets", r"\d+"),  # planned, nothing written
            "after-archive": (self._archive_log, r"\d+\.json"),
            "before-ingest": (ingest / "commits", r".*"),  # its temporary file, or the file itself if that was missed
            "after-ingest": (ingest / "commits", r"\d+"),
            "after-curate": (curate / "commits", r"\d+"),
            "after-graph": (graph / "commits", r"\d+"),
        }
        if self._point in files:
            directory, pattern = files[self._point]
            threading.Thread(
                target=_die_when_created, args=(directory, _names(directory), pattern), daemon=True
            ).start()
        elif self._point.startswith(AT_RANDOM):
            threading.Timer(float(self._point.removeprefix(AT_RANDOM)), die).start()

    def _around(self, write: Callable[..., Any], name: str) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            self._reach(f"before-{name}")
            written = write(*arguments)
            self._reach(f"after-{name}")
            return written

        return wrapped

    def _reach(self, point: str) -> None:
        is_new = self._batches.get(self._query, -1) > self._planned_before
        if point == self._point and (is_new or not self._only_new):
            die()


def _names(directory: Path) -> set[str]:
    return {entry.name for entry in directory.iterdir()} if directory.exists() else set()


def _die_when_created(directory: Path, known: set[str], pattern: str) -> None:
    """Die as soon as there is a new file whose name matches."""
    while not any(re.fullmatch(pattern, name) for name in _names(directory) - known):
        time.sleep(0.0002)
    die()


if __name__ == "__main__":
    config, point, which = sys.argv[1:]
    settings = load(Path(config))
    kill_point = KillPoint(settings, point, which)
    kill_point.install()
    run_job(settings, create_topics=False, report=print, started=kill_point.started)
