"""Through here, and nowhere else, Delta tables are read and written."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import and_
from pathlib import Path
from typing import cast

from delta.tables import DeltaTable
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lineproof.schemas.table_format import current_format
from lineproof.streaming.delta.commit import Commit
from lineproof.streaming.session import MAX_BATCH_BYTES
from lineproof.streaming.stages.merge_rules import KNOWN

COMMITS_A_CHECKPOINT = "50"
"""Of a table's log. With Delta's ten, every tenth small batch took half as long again."""

FEW_ROWS = 50_000
"""So many changed rows are sent to where the files are read; more are brought together with the files' rows."""

CONSTRAINT = "delta.constraints."
"""What the properties that are constraints begin with."""

IS_NEW, CHANGES_FILE = "is_new", "changes_file"
"""Whether a folded row was not there before; and the file whose row it is to replace, if it is another one now."""

ONE_FILE_A_TASK = {"spark.sql.files.openCostInBytes": MAX_BATCH_BYTES}
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

    def holds(self) -> Column:
        """Whether a value lies in it."""
        return F.col(self.column).between(F.lit(self.first), F.lit(self.last))


def is_between(time: str, first: int | None, last: int | None) -> Column:
    """Whether a time lies between two others in microseconds: files that lie outside need not be read."""
    return F.col(time).between(*(F.timestamp_micros(F.lit(end)) for end in (first, last)))


class Store:
    """The tables below one directory, written under one transaction id.

    A write under a `txn_app_id` and a batch number that the table has already seen is skipped: a batch repeated after
    a crash changes only the tables it had not reached.
    """

    def __init__(
        self,
        spark: SparkSession,
        root: str,
        txn_app_id: str = "",
        batch_number: int = -1,
    ) -> None:
        self._spark = spark
        self._root = root.rstrip("/")
        self._txn_app_id = txn_app_id
        self._batch_number = batch_number

    def path(self, table: Table) -> str:
        """Where the table is. A directory that is a link is followed: by its name, Hadoop would list the link."""
        path = f"{self._root}/{table.name}"
        return str(Path(path).resolve()) if Path(path).is_symlink() else path

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

    def rows_of(self, table: Table, keys: DataFrame, within: Range | None = None) -> DataFrame:
        """The rows of the table that have one of a batch's keys, which lie in this range."""
        return _having(self.read(table).where(_holds(within)), keys)

    def append(self, table: Table, rows: DataFrame) -> None:
        """Add rows, once per batch number."""
        commit = self._commit(table)
        if not commit.is_made:
            commit.make(rows.select(*table.columns))

    def fold(
        self,
        table: Table,
        keys: DataFrame,
        new: DataFrame,
        rows: Callable[[DataFrame], DataFrame],
        within: Range | None = None,
    ) -> DataFrame:
        """Put in the place of the rows that have one of the `keys` what `rows` makes of them and the new ones.

        Rows that were not there are written to files of their own, and a file with a row that changed is written anew.
        So a file holds rows that came together: mixed by one batch, they would all be written anew by the next.
        Returns the rows of these keys as they are now.
        """
        commit = self._commit(table)
        if commit.is_made:
            return self.rows_of(table, keys, within)
        candidates = commit.files(_holds(within))
        if not candidates:
            commit.make(rows(new).select(*table.columns))
            return self.rows_of(table, keys, within)
        merged = tuple(name for name in new.columns if name not in table.key)
        known = F.struct(F.col("_metadata.file_name").alias("file"), *merged).alias(KNOWN)
        rows_known = _having(commit.read(candidates).where(_holds(within)).select(*new.columns, known), keys)
        # Not persisted: what Spark keeps of a table it reads anew after each write to it.
        folded = (
            rows(rows_known.unionByName(new, allowMissingColumns=True))
            .select(*table.columns, *_news(merged))
            .localCheckpoint(eager=False, storageLevel=StorageLevel.DISK_ONLY)
        )
        [(added, changed, names)] = folded.agg(
            F.count_if(IS_NEW), F.count(CHANGES_FILE), F.collect_set(CHANGES_FILE)
        ).collect()
        files = [file for file in candidates if file.path().rpartition("/")[2] in names] if names else []
        parts = []
        if changed:
            others = folded.where(F.col(CHANGES_FILE).isNotNull())
            parts.append(_replacing(table, commit.read(files), others, are_few=changed <= FEW_ROWS))
        if added:
            parts.append(folded.where(IS_NEW).select(*table.columns))
        if parts:
            # What was one file stays one.
            with self.settings(ONE_FILE_A_TASK):
                commit.make(reduce(DataFrame.unionByName, parts), instead_of=files)
        return folded

    def _commit(self, table: Table) -> Commit:
        return Commit(self._spark, self.path(table), self._txn_app_id, self._batch_number)

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


def _holds(within: Range | None) -> Column:
    return within.holds() if within else F.lit(True)


def _having(rows: DataFrame, keys: DataFrame) -> DataFrame:
    return rows.join(F.broadcast(keys.distinct()), keys.columns, "left_semi")


def _replacing(table: Table, rows: DataFrame, others: DataFrame, *, are_few: bool) -> DataFrame:
    """The rows, but of those that have the key of another, the other."""
    row = F.struct(*table.columns)
    by_key = others.select(*table.key, row.alias("other"))
    both = rows.join(F.broadcast(by_key) if are_few else by_key, list(table.key), "left")
    return both.select(F.coalesce("other", row).alias("row")).select("row.*")


@cache
def _news(merged: tuple[str, ...]) -> list[Column]:
    """Of a row that was merged of what is known and what is new: whether it is new, and which file it changes."""
    known = F.col(KNOWN)
    is_same = reduce(and_, (known[name].eqNullSafe(F.col(name)) for name in merged))
    return [known.isNull().alias(IS_NEW), F.when(~is_same, known["file"]).alias(CHANGES_FILE)]
