"""Merge a batch into a table: first a plan of the rows that are new and the files that change, then one commit."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import and_

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.streaming.delta.reader import with_keys
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.transaction import DataFile, DeltaTransaction
from lineproof.streaming.spark_settings import MAX_BATCH_BYTES, session_settings
from lineproof.streaming.stages.merge_rules import MergeRules

MAX_BROADCAST_ROWS = 50_000
"""Up to this many changed rows are broadcast to the tasks that read the files; more are joined by a shuffle."""

ONE_FILE_PER_TASK = {"spark.sql.files.openCostInBytes": MAX_BATCH_BYTES}
"""The cost that Spark assumes for opening a file: as much as a task may read."""

_CURRENT, _IS_NEW, _CHANGED_FILE = "current", "is_new", "changed_file"


MAX_READ_WHOLE = 64 << 20
"""Up to this many bytes of files that may hold a key are read whole. Of more, the keys alone are read first."""


@dataclass(frozen=True)
class FoldPlan:
    """The merged rows of a batch's keys, and what they change in the table."""

    table: Table
    merged: DataFrame
    """The table's columns, whether the row is new, and the file in which it changes; null if it is the same there."""
    added_rows: int
    changed_rows: int
    changed_files: Sequence[DataFile]

    @property
    def rows(self) -> DataFrame:
        """The rows of the batch's keys after the fold."""
        return self.merged.select(*self.table.columns)


def files_with_keys(
    transaction: DeltaTransaction, files: Sequence[DataFile], condition: Column, keys: DataFrame
) -> list[DataFile]:
    """Those of the files that hold one of the keys. Small files may be among them that hold none."""
    if sum(file.size() for file in files) <= MAX_READ_WHOLE:
        return list(files)
    rows = transaction.read_files(files).where(condition)
    found = with_keys(rows.select(*keys.columns, F.col("_metadata.file_name").alias("file")), keys)
    names = {row.file for row in found.select("file").distinct().collect()}
    return [file for file in files if file.path().rpartition("/")[2] in names]


def plan_fold(
    table: Table,
    transaction: DeltaTransaction,
    files: Sequence[DataFile],
    condition: Column,
    keys: DataFrame,
    new: DataFrame,
    rules: MergeRules,
) -> FoldPlan:
    """Merge the new rows with the table's rows of these keys, which are in these files and meet the condition."""
    values = tuple(name for name in new.columns if name not in table.key)
    current = F.struct(F.col("_metadata.file_name").alias("file"), *values).alias(_CURRENT)
    known = with_keys(transaction.read_files(files).where(condition).select(*new.columns, current), keys)
    merged = (
        rules.merge(known.unionByName(new, allowMissingColumns=True), carried=(_CURRENT,))
        .select(*table.columns, *_changes(values))
        # Not persisted: Spark reads a persisted part of a table again after each write to that table.
        .localCheckpoint(eager=False, storageLevel=StorageLevel.DISK_ONLY)
    )
    [(added, changed, names)] = merged.agg(
        F.count_if(_IS_NEW), F.count(_CHANGED_FILE), F.collect_set(_CHANGED_FILE)
    ).collect()
    changed_files = [file for file in files if file.path().rpartition("/")[2] in names] if names else []
    return FoldPlan(table, merged, added, changed, changed_files)


def write_fold(transaction: DeltaTransaction, plan: FoldPlan) -> None:
    """Commit a plan: rewrite the files with changed rows, and write new rows to files of their own.

    So a file keeps rows that came together. If a batch mixed them, the next batch would have to rewrite them all.
    """
    parts = []
    if plan.changed_rows:
        changed = plan.merged.where(F.col(_CHANGED_FILE).isNotNull())
        are_few = plan.changed_rows <= MAX_BROADCAST_ROWS
        parts.append(_replace(plan.table, transaction.read_files(plan.changed_files), changed, are_few=are_few))
    if plan.added_rows:
        parts.append(plan.merged.where(_IS_NEW).select(*plan.table.columns))
    if parts:
        # A file that is rewritten stays one file.
        with session_settings(plan.merged.sparkSession, ONE_FILE_PER_TASK):
            transaction.commit(reduce(DataFrame.unionByName, parts), replaced=plan.changed_files)


def _replace(table: Table, rows: DataFrame, changed: DataFrame, *, are_few: bool) -> DataFrame:
    """The rows, each replaced by the changed row of the same key where there is one."""
    row = F.struct(*table.columns)
    by_key = changed.select(*table.key, row.alias("changed"))
    both = rows.join(F.broadcast(by_key) if are_few else by_key, list(table.key), "left")
    return both.select(F.coalesce("changed", row).alias("row")).select("row.*")


@cache
def _changes(values: tuple[str, ...]) -> list[Column]:
    """Compare a merged row with the current one: whether it is new, and the file in which it changes."""
    current = F.col(_CURRENT)
    is_same = reduce(and_, (current[name].eqNullSafe(F.col(name)) for name in values))
    return [current.isNull().alias(_IS_NEW), F.when(~is_same, current["file"]).alias(_CHANGED_FILE)]
