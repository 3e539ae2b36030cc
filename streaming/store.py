"""The only module that reads and writes Delta tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import cast

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType


@dataclass(frozen=True)
class Table:
    """What a table is: its name, and its columns as DDL with their comments."""

    name: str
    comment: str
    schema: tuple[str, ...]
    partition_by: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.split()[0] for column in self.schema)


class Store:
    """The tables below one directory, written under one transaction id.

    A write under a `txn_app_id` and a batch number that the table has already seen is skipped by Delta: a
    batch repeated after a crash changes only the tables it had not reached.
    """

    def __init__(self, spark: SparkSession, root: str, txn_app_id: str = "", batch_number: int = -1) -> None:
        self._spark = spark
        self._root = root.rstrip("/")
        self._txn = {"txnAppId": txn_app_id, "txnVersion": str(batch_number)}

    def path(self, table: Table) -> str:
        """Where the table is."""
        return f"{self._root}/{table.name}"

    def exists(self, table: Table) -> bool:
        """Whether a Delta table is there."""
        return DeltaTable.isDeltaTable(self._spark, self.path(table))

    def create(self, table: Table) -> None:
        """Create the table unless it is there."""
        builder = (
            DeltaTable.createIfNotExists(self._spark)
            .location(self.path(table))
            .comment(table.comment)
            .addColumns(cast(StructType, StructType.fromDDL(", ".join(table.schema))))
        )
        if table.partition_by:
            builder = builder.partitionedBy(*table.partition_by)
        builder.execute()

    def read(self, table: Table) -> DataFrame:
        """The table as it is now."""
        return self._spark.read.format("delta").load(self.path(table))

    def append(self, table: Table, rows: DataFrame) -> None:
        """Add rows, once per batch number."""
        rows.write.format("delta").mode("append").options(**self._txn).save(self.path(table))

    def merge(self, table: Table, rows: DataFrame, key: str, merged: Mapping[str, Column]) -> None:
        """Insert rows whose key is new; set the columns of the others to `merged`, where that changes them.

        `merged` speaks of the table's row as `old` and of the given one as `new`.
        """
        is_changed = ~reduce(and_, (F.col(f"old.{name}").eqNullSafe(value) for name, value in merged.items()))
        for option, value in self._txn.items():
            # MERGE takes its transaction id from the session alone.
            self._spark.conf.set(f"spark.databricks.delta.write.{option}", value)
        try:
            (
                DeltaTable.forPath(self._spark, self.path(table))
                .alias("old")
                .merge(rows.alias("new"), f"old.{key} = new.{key}")
                .whenMatchedUpdate(condition=is_changed, set=dict(merged))
                .whenNotMatchedInsertAll()
                .execute()
            )
        finally:
            for option in self._txn:
                self._spark.conf.unset(f"spark.databricks.delta.write.{option}")
