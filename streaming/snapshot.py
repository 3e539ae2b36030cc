"""What a Delta table's log says of it, and an append that asks no more of it. Beside Delta's public API."""

import time
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession


def transactions(spark: SparkSession, table_path: str) -> dict[str, int]:
    """The last batch number that each application id wrote to the table."""
    return _transactions(_snapshot(spark, table_path))


def append_once(rows: DataFrame, table_path: str, app_id: str, batch_number: int) -> None:
    """Add the rows, unless the table has this application's batch, or a later one.

    What a write with Delta's options `txnAppId` and `txnVersion` does, by the same transaction; but such a write finds
    out what was written by reading the whole log in three Spark jobs, which took longer than all else.
    """
    spark = rows.sparkSession
    jvm: Any = spark._jvm
    delta = jvm.org.apache.spark.sql.delta
    transaction = _log(spark, table_path).startTransaction()
    if _transactions(transaction.snapshot()).get(app_id, -1) >= batch_number:
        return
    # So that the commit fails if the same batch is written by another process meanwhile.
    transaction.readTxn().addOne(app_id)
    mark = delta.actions.SetTransaction(app_id, batch_number, jvm.scala.Option.apply(time.time_ns() // 1_000_000))
    mode = jvm.org.apache.spark.sql.streaming.OutputMode.Append()
    nothing = jvm.scala.Option.empty()
    operation = getattr(delta, "DeltaOperations$StreamingUpdate")(mode, app_id, batch_number, nothing)
    transaction.commit(transaction.writeFiles(rows._jdf).appended(mark), operation)


def properties(spark: SparkSession, table_path: str) -> dict[str, str]:
    """Those that were set for the table."""
    return _dictionary(_snapshot(spark, table_path).metadata().configuration())


def version(spark: SparkSession, table_path: str) -> int:
    """Of the table as it is now."""
    return int(_snapshot(spark, table_path).version())


def _log(spark: SparkSession, table_path: str) -> Any:
    jvm: Any = spark._jvm
    return jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, table_path)


def _snapshot(spark: SparkSession, table_path: str) -> Any:
    jvm: Any = spark._jvm
    nothing = jvm.scala.Option.empty()
    return _log(spark, table_path).update(False, nothing, nothing)


def _transactions(snapshot: Any) -> dict[str, int]:
    """As the checksum file of this version has them; a writer that is not Spark leaves none, and the log is read."""
    checksum = snapshot.checksumOpt()
    if checksum.isDefined() and checksum.get().setTransactions().isDefined():
        return {one.appId(): one.version() for one in _each(checksum.get().setTransactions().get())}
    return _dictionary(snapshot.transactions())


def _dictionary(of_scala: Any) -> dict[str, Any]:
    return {pair._1(): pair._2() for pair in _each(of_scala)}


def _each(of_scala: Any) -> Iterator[Any]:
    iterator = of_scala.iterator()
    while iterator.hasNext():
        yield iterator.next()
