"""Table maintenance: delete expired rows, compact small files, cluster, and vacuum unused files.

Safe while the job runs. No task changes the content of a row, and a commit that conflicts with the job's is retried
(see `conflicts`).
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
from lineproof.streaming.delta.conflicts import retry_on_conflict
from lineproof.streaming.delta.private_api.delta_log import properties
from lineproof.streaming.delta.private_api.directory import Directory
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.spark_settings import session_settings
from lineproof.streaming.tables.registry import TABLES
from lineproof.streaming.upkeep.retention import (
    READ_BY_GRAPH,
    Days,
    ExpiredRows,
    delete_expired,
    find_expired,
    first_day,
)
from lineproof.streaming.upkeep.stream_progress import READ_BY, StreamProgress

TASKS = ("retain", "compact", "cluster", "vacuum")
"""In the order in which they run: each leaves less work for the next."""

FILE_BYTES = 256 * 2**20
"""Target size of a compacted file. Files of at least half that size are left alone."""
CUBE_BYTES = 512 * 2**20
"""Size of the groups of files in which rows are clustered. With Delta's default of 100 GB, every compaction would
rewrite most tables completely."""
FEW_FILES = 8
"""Tables with at most this many small files are not compacted."""
MARGIN = timedelta(hours=1)
"""Added to the lag of a streaming query when choosing which unused files to keep for it."""

_OPTIMIZE = "spark.databricks.delta.optimize"
_SETTINGS = {
    f"{_OPTIMIZE}.maxFileSize": str(FILE_BYTES),
    f"{_OPTIMIZE}.minFileSize": str(FILE_BYTES // 2),
    # Delta's check refuses less than a week. The settings refuse less than an hour, and `_vacuum` keeps what our own
    # queries still have to read.
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    # Number of tasks that list files for VACUUM. With Spark's default of 10,000, an empty result took a minute.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
}
_CUBES = {
    f"{_OPTIMIZE}.clustering.mergeStrategy.minCubeSize.threshold": str(CUBE_BYTES),
    f"{_OPTIMIZE}.clustering.mergeStrategy.minCubeSize.targetCubeSize": str(CUBE_BYTES),
}


@dataclass(frozen=True)
class TableSize:
    """The files of the table's current version, and everything in its directory."""

    files: int
    bytes: int
    bytes_on_disk: int


@dataclass(frozen=True)
class MaintenanceResult:
    """What was done to one table."""

    table: str
    before: TableSize
    after: TableSize
    done: Sequence[str]
    """One sentence for each task that had something to do."""
    seconds: float


class Maintenance:
    """Maintains the tables of one directory, in a Spark session of its own.

    `timeout_s` is how long it waits for the job to read expired rows before it deletes them.
    """

    def __init__(
        self,
        spark: SparkSession,
        tables: str,
        checkpoints: str,
        days: Days,
        keep_files: timedelta,
        *,
        is_dry: bool = False,
        timeout_s: float = 120,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._spark = spark.newSession()
        for name, value in _SETTINGS.items():
            self._spark.conf.set(name, value)
        self._tables = TableReader(self._spark, tables)
        self._progress = StreamProgress(self._spark, self._tables, checkpoints)
        self._days = days
        self._keep_files = keep_files
        self._is_dry = is_dry
        self._timeout_s = timeout_s
        self._is_stopping = is_stopping
        self._has_been_read = True

    def run(
        self,
        tasks: Collection[str] = TASKS,
        names: Collection[str] = (),
        report: Callable[[str, float], None] = lambda _step, _share: None,
    ) -> list[MaintenanceResult]:
        """Run these tasks on tables by name, or on all. `report` gets the current step and the share that is done.

        Referencing tables come before the referenced ones: events are deleted before their runs.
        """
        tables = [
            table for table in reversed(TABLES) if (not names or table.name in names) and self._tables.exists(table)
        ]
        for table in tables:
            refuse_newer(self._tables.path(table), properties(self._spark, self._tables.path(table)))
        expired = self._find_expired(tables, report) if "retain" in tasks else {}
        results = []
        for number, table in enumerate(tables):
            if self._is_stopping():
                break
            report(table.name, number / len(tables))
            began, before = time.monotonic(), self._size(table)
            sentences = [self._run_task(task, table, expired.get(table.name)) for task in TASKS if task in tasks]
            after = before if self._is_dry else self._size(table)
            done = [sentence for sentence in sentences if sentence]
            results.append(MaintenanceResult(table.name, before, after, done, time.monotonic() - began))
        report("", 1.0)
        return results

    def _run_task(self, task: str, table: Table, expired: ExpiredRows | None) -> str:
        """Run one task; return what it did, or an empty text if there was nothing to do."""
        acts: dict[str, Callable[[Table], str]] = {
            "retain": lambda table: self._retain(table, expired),
            "compact": self._compact,
            "cluster": self._cluster,
            "vacuum": self._vacuum,
        }
        return retry_on_conflict(acts[task])(table)

    def _find_expired(self, tables: Sequence[Table], report: Callable[[str, float], None]) -> dict[str, ExpiredRows]:
        """Find expired rows, and wait until the graph query has read them."""
        report("looking for expired rows", 0.0)
        now = datetime.now(timezone.utc)
        first_days = [(table, first) for table in tables if (first := first_day(table, self._days, now))]
        found = {table.name: find_expired(self._tables, table, first) for table, first in first_days}
        if not self._is_dry and any(found[table.name].count for table in READ_BY_GRAPH if table.name in found):
            report("waiting for the job to read the expired rows", 0.0)
            self._has_been_read = self._progress.wait_until_read(self._timeout_s, self._is_stopping)
        return found

    def _retain(self, table: Table, expired: ExpiredRows | None) -> str:
        if expired is None or not expired.count:
            return ""
        rows = f"{expired.count:,} rows from before {expired.before}"
        if self._is_dry:
            return f"{rows} would be deleted"
        if table in READ_BY_GRAPH and not self._has_been_read:
            return f"{rows} kept: the job has not read them yet. Run the job, then maintenance again"
        deleted = delete_expired(self._spark, self._tables, expired)
        return f"{deleted:,} rows from before {expired.before} deleted"

    def _compact(self, table: Table) -> str:
        files, size = self._files(table)
        if files <= FEW_FILES + size // (FILE_BYTES // 2):
            return ""
        if self._is_dry:
            return f"{files:,} files would be compacted"
        with session_settings(self._spark, _CUBES):
            return self._optimize(table)

    def _cluster(self, table: Table) -> str:
        if not table.cluster_by:
            return ""
        if self._is_dry:
            return f"would be clustered by {', '.join(table.cluster_by)}"
        return self._optimize(table, "FULL")

    def _optimize(self, table: Table, mode: str = "") -> str:
        [row] = self._sql(f"OPTIMIZE delta.`{self._tables.path(table)}` {mode}")
        removed, added = row.metrics.numFilesRemoved, row.metrics.numFilesAdded
        return f"{removed:,} files rewritten as {added:,}" if removed else ""

    def _vacuum(self, table: Table) -> str:
        since = self._progress.unread_since(table)
        keep = max(self._keep_files, datetime.now(timezone.utc) - since + MARGIN) if since else self._keep_files
        hours = math.ceil(keep / timedelta(hours=1))
        statement = f"VACUUM delta.`{self._tables.path(table)}` RETAIN {hours} HOURS"
        late = f" ({READ_BY[table.name]} is behind: files of the last {hours} hours are kept)" if since else ""
        if self._is_dry:
            # The result of a dry run has one row per file.
            files = len(self._sql(f"{statement} DRY RUN"))
            return f"{files:,} files would be removed{late}" if files else ""
        self._sql(statement)
        [last] = DeltaTable.forPath(self._spark, self._tables.path(table)).history(1).collect()
        removed = int(last.operationMetrics.get("numDeletedFiles", 0)) if last.operation == "VACUUM END" else 0
        return f"{removed:,} files removed{late}" if removed else ""

    def _size(self, table: Table) -> TableSize:
        return TableSize(*self._files(table), Directory(self._spark, self._tables.path(table)).size())

    def _files(self, table: Table) -> tuple[int, int]:
        """The number of files in the table's current version, and their bytes."""
        [detail] = DeltaTable.forPath(self._spark, self._tables.path(table)).detail().collect()
        return int(detail.numFiles), int(detail.sizeInBytes)

    def _sql(self, statement: str) -> list[Any]:
        return self._spark.sql(statement).collect()
