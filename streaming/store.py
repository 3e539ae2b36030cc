"""Through here, and nowhere else, Delta tables are read and written."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import and_
from typing import cast

from delta.tables import DeltaTable
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lineproof.streaming.formats import current_format
from lineproof.streaming.lattice import IS_KNOWN
from lineproof.streaming.snapshot import append_once, transactions, version

COMMITS_A_CHECKPOINT = "50"
"""Of a table's log. With Delta's ten, every tenth small batch took half as long again."""

FEW_ROWS = 50_000
"""So many changed rows are sent to where the files are read; more are brought together with the files' rows."""

CONSTRAINT = "delta.constraints."
"""What the properties that are constraints begin with."""

ONE_FILE_A_TASK = "128m"
"""What Spark reckons to open a file costs: as much as a task is to read."""


@dataclass(frozen=True)
class Table:
    """What a table is: its name, its columns as DDL with their comments, and what always holds of them."""

    name: str
    comment: str
    schema: tuple[str, ...]
    key: tuple[str, ...]
    """What a row is known by: no two rows have the same."""
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    """The columns of its usual question."""
    skip_by: tuple[str, ...] = ()
    """Further columns by whose range a file is skipped. To keep that of every column takes longer than to write it."""
    constraints: Mapping[str, str] = field(default_factory=dict)
    """Names and conditions: a row that breaks one is a fault of ours, and stops the job."""
    kept_by: str = ""
    """The time of a row, by which it is one day too old to be kept. Empty: what the table knows is never too old."""
    kept_as: str = ""
    """The setting under `retention` that says for how long, where it is not called as the table is."""

    @property
    def properties(self) -> dict[str, str]:
        """What Delta has to know of it."""
        return {
            "delta.dataSkippingStatsColumns": ",".join(dict.fromkeys((*self.cluster_by, *self.skip_by))),
            "delta.checkpointInterval": COMMITS_A_CHECKPOINT,
            **{f"{CONSTRAINT}{name}": condition for name, condition in self.constraints.items()},
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.split()[0] for column in self.schema)

    @property
    def struct(self) -> StructType:
        """The columns as Spark's type."""
        return cast(StructType, StructType.fromDDL(", ".join(self.schema)))


@dataclass(frozen=True)
class Range:
    """The least and the greatest value of a column: files that lie outside need not be read."""

    column: str
    first: str | None
    last: str | None

    def holds(self, of: str = "") -> Column:
        """Whether a value lies in it."""
        return F.col(of + self.column).between(F.lit(self.first), F.lit(self.last))


def event_time_between(first: int | None, last: int | None) -> Column:
    """Whether `event_time` lies between two times in microseconds: files that lie outside need not be read."""
    return F.col("event_time").between(*(F.timestamp_micros(F.lit(time)) for time in (first, last)))


class Store:
    """The tables below one directory, written under one transaction id.

    A write under a `txn_app_id` and a batch number that the table has already seen is skipped by Delta: a
    batch repeated after a crash changes only the tables it had not reached.
    """

    def __init__(
        self,
        spark: SparkSession,
        root: str,
        txn_app_id: str = "",
        batch_number: int = -1,
        filled: set[str] | None = None,
    ) -> None:
        self._spark = spark
        self._root = root.rstrip("/")
        self._txn_app_id = txn_app_id
        self._batch_number = batch_number
        # Names of tables that were found not to be empty: to ask again takes a query for each table of each batch.
        self._filled = set() if filled is None else filled

    def path(self, table: Table) -> str:
        """Where the table is."""
        return f"{self._root}/{table.name}"

    def exists(self, table: Table) -> bool:
        """Whether a Delta table is there."""
        return DeltaTable.isDeltaTable(self._spark, self.path(table))

    def create(self, table: Table) -> None:
        """Create the table."""
        builder = (
            DeltaTable.create(self._spark).location(self.path(table)).comment(table.comment).addColumns(table.struct)
        )
        if table.partition_by:
            builder = builder.partitionedBy(*table.partition_by)
        if table.cluster_by:
            builder = builder.clusterBy(*table.cluster_by)
        for name, value in {**table.properties, **current_format()}.items():
            builder = builder.property(name, value)
        builder.execute()

    def read(self, table: Table) -> DataFrame:
        """The table as it is now."""
        return self._spark.read.format("delta").load(self.path(table))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Around all writes of a batch: MERGE takes its transaction id from the session alone.

        It has one of its own, because a batch may both append to a table and change it.
        """
        txn = {"txnAppId": _of_changes(self._txn_app_id), "txnVersion": str(self._batch_number)}
        with self.settings({f"spark.databricks.delta.write.{name}": value for name, value in txn.items()}):
            yield

    def rows_of(self, table: Table, keys: DataFrame, within: Range | None = None) -> DataFrame:
        """The rows of the table that have one of a batch's keys, which lie in this range."""
        candidates = self.read(table).where(within.holds()) if within else self.read(table)
        return candidates.join(F.broadcast(keys.distinct()), keys.columns, "left_semi")

    def append(self, table: Table, rows: DataFrame) -> None:
        """Add rows, once per batch number."""
        append_once(rows.select(*table.columns), self.path(table), self._txn_app_id, self._batch_number)

    def fold(
        self,
        table: Table,
        keys: DataFrame,
        new: DataFrame,
        rows: Callable[[DataFrame], DataFrame],
        within: Range | None = None,
    ) -> DataFrame:
        """Put in the place of the rows that have one of the `keys` what `rows` makes of them and the new ones.

        Rows that were not there are appended, and only the others are merged. So a file holds rows that came together,
        and a MERGE rewrites the files of what changed: mixed by one, they would all be rewritten by the next. The MERGE
        comes first: it may fail because of others who write, and then nothing was done that Delta would not do again.
        Returns the rows of these keys as they are now.
        """
        if self._is_empty(table):
            self.append(table, rows(new))
            return self.read(table)
        before = version(self._spark, self.path(table))
        known = self.rows_of(table, keys, within).select(*new.columns, F.lit(True).alias(IS_KNOWN))
        # Not persisted: what Spark keeps of a table it reads anew after each write to it.
        folded = rows(known.unionByName(new.withColumn(IS_KNOWN, F.lit(False)))).localCheckpoint(
            eager=False, storageLevel=StorageLevel.DISK_ONLY
        )
        is_known = F.col(IS_KNOWN)
        [(added, changed)] = folded.agg(F.count_if(~is_known), F.count_if(is_known)).collect()
        rows_added = folded.where(~is_known).select(*table.columns)
        if changed:
            rows_changed = folded.where(is_known).select(*table.columns)
            self._update(table, F.broadcast(rows_changed) if changed <= FEW_ROWS else rows_changed, within)
            if self._is_disturbed(table, before):
                # A row that was too old to be kept, and is no longer: it was deleted before it could be changed.
                here = self.rows_of(table, keys, within).select(*table.key)
                gone = rows_changed.join(here, list(table.key), "left_anti").select(*table.columns).localCheckpoint()
                rows_added, added = rows_added.unionByName(gone), True
        if added:
            self.append(table, rows_added)
        return folded

    def _is_disturbed(self, table: Table, before: int) -> bool:
        """Whether others have written to the table, beside our one MERGE."""
        merged = transactions(self._spark, self.path(table)).get(_of_changes(self._txn_app_id))
        return version(self._spark, self.path(table)) > before + (merged == self._batch_number)

    def _is_empty(self, table: Table) -> bool:
        if table.name not in self._filled:
            [detail] = DeltaTable.forPath(self._spark, self.path(table)).detail().collect()
            if int(detail.numFiles) == 0:
                return True
            self._filled.add(table.name)
        return False

    def _update(self, table: Table, rows: DataFrame, within: Range | None) -> None:
        """Replace the rows of the same key where something else is different. What was one file stays one."""
        is_matched = _is_same(table.key) & within.holds("old.") if within else _is_same(table.key)
        with self.settings({"spark.sql.files.openCostInBytes": ONE_FILE_A_TASK}):
            (
                DeltaTable.forPath(self._spark, self.path(table))
                .alias("old")
                .merge(rows.alias("new"), is_matched)
                .whenMatchedUpdateAll(condition=~_is_same(table.columns))
                .execute()
            )

    @contextmanager
    def settings(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Of the session, which a batch has for itself."""
        for name, value in settings.items():
            self._spark.conf.set(name, value)
        try:
            yield
        finally:
            for name in settings:
                self._spark.conf.unset(name)


@cache
def _is_same(names: tuple[str, ...]) -> Column:
    return reduce(and_, (F.col(f"old.{name}").eqNullSafe(F.col(f"new.{name}")) for name in names))


def _of_changes(txn_app_id: str) -> str:
    return f"{txn_app_id}-changes"
