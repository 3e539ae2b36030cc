"""What a Delta table's log says about the table, without a Spark job where Delta has the answer in memory."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession


def transactions(spark: SparkSession, table_path: str) -> dict[str, int]:
    """The last batch number that each application id wrote to the table."""
    return snapshot_transactions(_snapshot(spark, table_path))


def properties(spark: SparkSession, table_path: str) -> dict[str, str]:
    """The properties that are set on the table."""
    return _dictionary(_snapshot(spark, table_path).metadata().configuration())


def version(spark: SparkSession, table_path: str) -> int:
    """The current version of the table."""
    return int(_snapshot(spark, table_path).version())


def delta_log(spark: SparkSession, table_path: str) -> Any:
    """Delta's own `DeltaLog` of the table."""
    jvm: Any = spark._jvm
    return jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, table_path)


def _snapshot(spark: SparkSession, table_path: str) -> Any:
    jvm: Any = spark._jvm
    none = jvm.scala.Option.empty()
    return delta_log(spark, table_path).update(False, none, none)


def snapshot_transactions(snapshot: Any) -> dict[str, int]:
    """The application ids of a snapshot, from its checksum file. Writers other than Spark leave none: read the log."""
    checksum = snapshot.checksumOpt()
    if checksum.isDefined() and checksum.get().setTransactions().isDefined():
        found = scala_items(checksum.get().setTransactions().get())
        return {transaction.appId(): transaction.version() for transaction in found}
    return _dictionary(snapshot.transactions())


def _dictionary(scala_map: Any) -> dict[str, Any]:
    return {pair._1(): pair._2() for pair in scala_items(scala_map)}


def scala_items(collection: Any) -> Iterator[Any]:
    """The items of a Scala collection."""
    iterator = collection.iterator()
    while iterator.hasNext():
        yield iterator.next()
