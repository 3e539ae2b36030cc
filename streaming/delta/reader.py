"""Read access to the tables, for every query, task and check that uses Spark."""

from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.delta.key_ranges import KeyRanges
from lineproof.streaming.delta.table import Table


class TableReader:
    """The tables in one directory."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._root = root.rstrip("/")

    def path(self, table: Table) -> str:
        """The table's directory. A symbolic link is followed: by its own name, Hadoop would list only the link."""
        path = f"{self._root}/{table.name}"
        return str(Path(path).resolve()) if Path(path).is_symlink() else path

    def exists(self, table: Table) -> bool:
        """Whether there is a Delta table in the table's directory."""
        return DeltaTable.isDeltaTable(self._spark, self.path(table))

    def read(self, table: Table) -> DataFrame:
        """The current rows of the table."""
        return self._spark.read.format("delta").load(self.path(table))

    def rows_of(self, table: Table, keys: DataFrame, within: KeyRanges | None = None) -> DataFrame:
        """The rows of the table that have one of these keys, all of which lie in the ranges."""
        return with_keys(self.read(table).where(lies_within(within)), keys)


def lies_within(within: KeyRanges | None) -> Column:
    """Whether a row lies in the ranges; true without any."""
    return within.condition() if within else F.lit(True)


def with_keys(rows: DataFrame, keys: DataFrame) -> DataFrame:
    """The rows that have one of these keys."""
    return rows.join(F.broadcast(keys.distinct()), keys.columns, "left_semi")
