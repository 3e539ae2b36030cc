"""The only module that reads and writes Delta tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import cast

from delta.tables import DeltaTable
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from lineproof.streaming.lattice import IS_KNOWN

COMMITS_A_CHECKPOINT = "50"
"""Of a table's log. With Delta's ten, every tenth small batch took half as long again."""

FEW_ROWS = 50_000
"""So many changed rows are sent to where the files are read; more are brought together with the files' rows."""

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
        self._txn = {"txnAppId": txn_app_id, "txnVersion": str(batch_number)}
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
        ranged = ",".join(dict.fromkeys((*table.cluster_by, *table.skip_by)))
        builder = builder.property("delta.dataSkippingStatsColumns", ranged)
        builder = builder.property("delta.checkpointInterval", COMMITS_A_CHECKPOINT)
        for name, condition in table.constraints.items():
            builder = builder.property(f"delta.constraints.{name}", condition)
        builder.execute()

    def evolve(self, table: Table) -> None:
        """Add the columns that an older release did not have. No file is rewritten: old rows have nulls there."""
        if _paths(table.struct) - _paths(self.read(table).schema):
            nothing = self._spark.createDataFrame([], table.struct)
            nothing.write.format("delta").mode("append").option("mergeSchema", "true").save(self.path(table))

    def read(self, table: Table) -> DataFrame:
        """The table as it is now."""
        return self._spark.read.format("delta").load(self.path(table))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Around all writes of a batch: MERGE takes its transaction id from the session alone.

        It has one of its own, because a batch may both append to a table and change it.
        """
        txn = {**self._txn, "txnAppId": f"{self._txn['txnAppId']}-changes"}
        with self.settings({f"spark.databricks.delta.write.{name}": value for name, value in txn.items()}):
            yield

    def rows_of(self, table: Table, keys: DataFrame, within: Range | None = None) -> DataFrame:
        """The rows of the table that have one of a batch's keys, which lie in this range."""
        candidates = self.read(table).where(within.holds()) if within else self.read(table)
        return candidates.join(F.broadcast(keys.distinct()), keys.columns, "left_semi")

    def append(self, table: Table, rows: DataFrame) -> None:
        """Add rows, once per batch number."""
        rows.select(*table.columns).write.format("delta").mode("append").options(**self._txn).save(self.path(table))

    def fold(
        self,
        table: Table,
        key: Sequence[str],
        keys: DataFrame,
        new: DataFrame,
        rows: Callable[[DataFrame], DataFrame],
        within: Range | None = None,
    ) -> DataFrame:
        """Put in the place of the rows that have one of the `keys` what `rows` makes of them and the new ones.

        Rows that were not there are appended, and only the others are merged. So a file holds rows that came together,
        and a MERGE rewrites the files of what changed: mixed by one, they would all be rewritten by the next.
        Returns the rows of these keys as they are now.
        """
        if self._is_empty(table):
            self.append(table, rows(new))
            return self.read(table)
        known = self.rows_of(table, keys, within).select(*new.columns, F.lit(True).alias(IS_KNOWN))
        # Not persisted: what Spark keeps of a table it reads anew after each write to it.
        folded = rows(known.unionByName(new.withColumn(IS_KNOWN, F.lit(False)))).localCheckpoint(
            eager=False, storageLevel=StorageLevel.DISK_ONLY
        )
        is_known = F.col(IS_KNOWN)
        [(added, changed)] = folded.agg(F.count_if(~is_known), F.count_if(is_known)).collect()
        if added:
            self.append(table, folded.where(~is_known))
        if changed:
            rows_changed = folded.where(is_known).select(*table.columns)
            self._update(table, key, F.broadcast(rows_changed) if changed <= FEW_ROWS else rows_changed, within)
        return folded

    def _is_empty(self, table: Table) -> bool:
        if table.name not in self._filled:
            [detail] = DeltaTable.forPath(self._spark, self.path(table)).detail().collect()
            if int(detail.numFiles) == 0:
                return True
            self._filled.add(table.name)
        return False

    def _update(self, table: Table, key: Sequence[str], rows: DataFrame, within: Range | None) -> None:
        """Replace the rows of the same key where something else is different. What was one file stays one."""

        def is_same(names: Sequence[str]) -> Column:
            return reduce(and_, (F.col(f"old.{name}").eqNullSafe(F.col(f"new.{name}")) for name in names))

        with self.settings({"spark.sql.files.openCostInBytes": ONE_FILE_A_TASK}):
            (
                DeltaTable.forPath(self._spark, self.path(table))
                .alias("old")
                .merge(rows.alias("new"), is_same(key) & within.holds("old.") if within else is_same(key))
                .whenMatchedUpdateAll(condition=~is_same(table.columns))
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


def _paths(kind: DataType, path: str = "") -> set[str]:
    """The names of all columns, also of those within others."""
    if isinstance(kind, ArrayType):
        return _paths(kind.elementType, path)
    if not isinstance(kind, StructType):
        return {path}
    return {name for one in kind.fields for name in _paths(one.dataType, f"{path}.{one.name}")}
