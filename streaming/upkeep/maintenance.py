"""Tables that stay healthy for years: few files, none that nobody needs, no rows that are too old.

Safe while the job runs: nothing here changes what a row says, and who is second to write looks again (`conflicts`).
"""

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from lineproof.schemas.table_format import refuse_newer
from lineproof.streaming.delta.conflicts import again_on_conflict
from lineproof.streaming.delta.files import Directory
from lineproof.streaming.delta.snapshot import properties
from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.job import TABLES
from lineproof.streaming.upkeep.retention import READ_BY_GRAPH, Days, Old, delete_old, find_old, first_day
from lineproof.streaming.upkeep.stream_progress import READERS, Readers

TASKS = ("retain", "compact", "cluster", "vacuum")
"""In the order in which they are done: each leaves less to the next."""

FILE_BYTES = 256 * 2**20
"""What files grow to. One of half that size is left alone."""
CUBE_BYTES = 512 * 2**20
"""Rows are clustered by so much at a time. With Delta's 100 GB, a compaction would rewrite most tables as a whole."""
FEW_FILES = 8
"""So many small files are left alone."""
MARGIN = timedelta(hours=1)
"""Added to how far a query is behind, before old files are removed."""

_OPTIMIZE = "spark.databricks.delta.optimize"
_SETTINGS = {
    f"{_OPTIMIZE}.maxFileSize": str(FILE_BYTES),
    f"{_OPTIMIZE}.minFileSize": str(FILE_BYTES // 2),
    # We refuse less than is safe ourselves, and know what our own queries need.
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    # Of tasks that look for old files: with Spark's 10,000, it took a minute to find that there are none.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
}
_CUBES = {
    f"{_OPTIMIZE}.clustering.mergeStrategy.minCubeSize.threshold": str(CUBE_BYTES),
    f"{_OPTIMIZE}.clustering.mergeStrategy.minCubeSize.targetCubeSize": str(CUBE_BYTES),
}


@dataclass(frozen=True)
class Size:
    """Of a table: its files as it is now, and all that lies in its directory."""

    files: int
    bytes: int
    bytes_on_disk: int


@dataclass(frozen=True)
class Outcome:
    """What was done to a table."""

    table: str
    before: Size
    after: Size
    done: Sequence[str]
    """In words, one a task that had something to do."""
    seconds: float


class Maintenance:
    """Of the tables below one directory, in a session of its own."""

    def __init__(
        self,
        spark: SparkSession,
        tables: str,
        checkpoints: str,
        days: Days,
        keep_files: timedelta,
        *,
        is_dry: bool = False,
        patience_s: float = 120,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._spark = spark.newSession()
        for name, value in _SETTINGS.items():
            self._spark.conf.set(name, value)
        self._store = Store(self._spark, tables)
        self._readers = Readers(self._spark, self._store, checkpoints)
        self._days = days
        self._keep_files = keep_files
        self._is_dry = is_dry
        self._patience_s = patience_s
        self._is_stopping = is_stopping
        self._has_been_read = True

    def run(
        self,
        tasks: Collection[str] = TASKS,
        names: Collection[str] = (),
        report: Callable[[str, float], None] = lambda _what, _share: None,
    ) -> list[Outcome]:
        """Do these tasks to tables by name, or all; `report` gets what is under way, and how much is done.

        What others point to comes after them: events go before their runs.
        """
        tables = [one for one in reversed(TABLES) if (not names or one.name in names) and self._store.exists(one)]
        for table in tables:
            refuse_newer(self._store.path(table), properties(self._spark, self._store.path(table)))
        old = self._find_old(tables, report) if "retain" in tasks else {}
        outcomes = []
        for number, table in enumerate(tables):
            if self._is_stopping():
                break
            report(table.name, number / len(tables))
            began, before = time.monotonic(), self._size(table)
            done = [self._do(task, table, old.get(table.name)) for task in TASKS if task in tasks]
            after = before if self._is_dry else self._size(table)
            said = [one for one in done if one]
            outcomes.append(Outcome(table.name, before, after, said, time.monotonic() - began))
        report("", 1.0)
        return outcomes

    def _do(self, task: str, table: Table, old: Old | None) -> str:
        acts: dict[str, Callable[[Table], str]] = {
            "retain": lambda one: self._retain(one, old),
            "compact": self._compact,
            "cluster": self._cluster,
            "vacuum": self._vacuum,
        }
        return again_on_conflict(acts[task])(table)

    def _find_old(self, tables: Sequence[Table], report: Callable[[str, float], None]) -> dict[str, Old]:
        """What is too old, and may go: what graph has not read, may not."""
        report("looking for rows that are too old", 0.0)
        now = datetime.now(timezone.utc)
        firsts = [(table, first) for table in tables if (first := first_day(table, self._days, now))]
        found = {table.name: find_old(self._store, table, first) for table, first in firsts}
        if not self._is_dry and any(found[table.name].rows for table in READ_BY_GRAPH if table.name in found):
            report("waiting until the job has read what is there", 0.0)
            self._has_been_read = self._readers.pass_by(self._patience_s, self._is_stopping)
        return found

    def _retain(self, table: Table, old: Old | None) -> str:
        if old is None or not old.rows:
            return ""
        if self._is_dry:
            return f"{old.rows:,} rows from before {old.before} would be deleted"
        if table in READ_BY_GRAPH and not self._has_been_read:
            return f"{old.rows:,} rows from before {old.before} stay: the job has not read them yet; run it, then this"
        deleted = delete_old(self._spark, self._store, old)
        return f"{deleted:,} rows from before {old.before} deleted"

    def _compact(self, table: Table) -> str:
        files, size = self._files(table)
        if files <= FEW_FILES + size // (FILE_BYTES // 2):
            return ""
        if self._is_dry:
            return f"{files:,} files would be brought together"
        with self._store.settings(_CUBES):
            return self._optimized(table)

    def _cluster(self, table: Table) -> str:
        if not table.cluster_by:
            return ""
        if self._is_dry:
            return f"would be clustered by {', '.join(table.cluster_by)}"
        return self._optimized(table, "FULL")

    def _optimized(self, table: Table, how: str = "") -> str:
        [row] = self._sql(f"OPTIMIZE delta.`{self._store.path(table)}` {how}")
        removed, added = row.metrics.numFilesRemoved, row.metrics.numFilesAdded
        return f"{removed:,} files rewritten as {added:,}" if removed else ""

    def _vacuum(self, table: Table) -> str:
        since = self._readers.unread_since(table)
        keep = max(self._keep_files, datetime.now(timezone.utc) - since + MARGIN) if since else self._keep_files
        hours = math.ceil(keep / timedelta(hours=1))
        statement = f"VACUUM delta.`{self._store.path(table)}` RETAIN {hours} HOURS"
        late = f" ({READERS[table.name]} is behind: files of the last {hours} hours stay)" if since else ""
        if self._is_dry:
            # A result of this statement has a row for each file.
            files = len(self._sql(f"{statement} DRY RUN"))
            return f"{files:,} files would be removed{late}" if files else ""
        self._sql(statement)
        [last] = DeltaTable.forPath(self._spark, self._store.path(table)).history(1).collect()
        removed = int(last.operationMetrics.get("numDeletedFiles", 0)) if last.operation == "VACUUM END" else 0
        return f"{removed:,} files removed{late}" if removed else ""

    def _size(self, table: Table) -> Size:
        return Size(*self._files(table), Directory(self._spark, self._store.path(table)).size())

    def _files(self, table: Table) -> tuple[int, int]:
        """How many files the table has, and their bytes."""
        [detail] = DeltaTable.forPath(self._spark, self._store.path(table)).detail().collect()
        return int(detail.numFiles), int(detail.sizeInBytes)

    def _sql(self, statement: str) -> list[Any]:
        return self._spark.sql(statement).collect()
