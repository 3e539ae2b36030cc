"""What a Delta table's log says of it. Beside Delta's public API."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession


def transactions(spark: SparkSession, table_path: str) -> dict[str, int]:
    """The last batch number that each application id wrote to the table."""
    return transactions_of(_snapshot(spark, table_path))


def properties(spark: SparkSession, table_path: str) -> dict[str, str]:
    """Those that were set for the table."""
    return _dictionary(_snapshot(spark, table_path).metadata().configuration())


def version(spark: SparkSession, table_path: str) -> int:
    """Of the table as it is now."""
    return int(_snapshot(spark, table_path).version())


def log_of(spark: SparkSession, table_path: str) -> Any:
    """The log itself."""
    jvm: Any = spark._jvm
    return jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, table_path)


def _snapshot(spark: SparkSession, table_path: str) -> Any:
    jvm: Any = spark._jvm
    nothing = jvm.scala.Option.empty()
    return log_of(spark, table_path).update(False, nothing, nothing)


def transactions_of(snapshot: Any) -> dict[str, int]:
    """As the checksum file of this snapshot has them; a writer that is not Spark leaves none, and the log is read."""
    checksum = snapshot.checksumOpt()
    if checksum.isDefined() and checksum.get().setTransactions().isDefined():
        return {one.appId(): one.version() for one in each(checksum.get().setTransactions().get())}
    return _dictionary(snapshot.transactions())


def _dictionary(of_scala: Any) -> dict[str, Any]:
    return {pair._1(): pair._2() for pair in each(of_scala)}


def each(of_scala: Any) -> Iterator[Any]:
    """Of a collection of Scala's."""
    iterator = of_scala.iterator()
    while iterator.hasNext():
        yield iterator.next()
