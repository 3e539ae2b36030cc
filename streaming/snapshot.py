"""What a Delta table's log says of it, without a Spark job."""

from typing import Any

from pyspark.sql import SparkSession


def transactions(spark: SparkSession, table_path: str) -> dict[str, int]:
    """The last batch number that each application id wrote to the table."""
    return _dictionary(_snapshot(spark, table_path).transactions())


def properties(spark: SparkSession, table_path: str) -> dict[str, str]:
    """Those that were set for the table."""
    return _dictionary(_snapshot(spark, table_path).metadata().configuration())


def version(spark: SparkSession, table_path: str) -> int:
    """Of the table as it is now."""
    return int(_snapshot(spark, table_path).version())


def _snapshot(spark: SparkSession, table_path: str) -> Any:
    jvm: Any = spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, table_path)
    nothing = jvm.scala.Option.empty()
    return log.update(False, nothing, nothing)


def _dictionary(of_scala: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    iterator = of_scala.iterator()
    while iterator.hasNext():
        pair = iterator.next()
        found[pair._1()] = pair._2()
    return found
