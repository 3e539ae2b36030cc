"""The batch's write to a Delta table, by Delta's own transaction class."""

import time
from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession

from lineproof.streaming.delta.private_api.delta_log import delta_log, scala_items, snapshot_transactions
from lineproof.streaming.delta.transaction import DataFile


class OptimisticTransaction:
    """A `DeltaTransaction` on Delta's `OptimisticTransaction`.

    Delta's public ways cost more. A write with the options `txnAppId` and `txnVersion` reads the whole log, in three
    Spark jobs, to find out whether the batch was written: the checksum file has the answer. A MERGE looks for the rows
    it changes in a query of its own: the fold has read them already.
    """

    def __init__(self, spark: SparkSession, table_path: str, app_id: str, batch_number: int) -> None:
        self._spark = spark
        jvm: Any = spark._jvm
        self._jvm = jvm
        self._app_id = app_id
        self._batch_number = batch_number
        # Delta uses the active session of the thread. Without one, rows would belong to the application's session, and
        # neither the settings nor the views of the batch's session would apply to them.
        jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)
        self._log = delta_log(spark, table_path)
        self._transaction = self._log.startTransaction()
        self._snapshot = self._transaction.snapshot()

    @property
    def is_written(self) -> bool:
        """Whether the table has this batch of the application, or a later one."""
        return snapshot_transactions(self._snapshot).get(self._app_id, -1) >= self._batch_number

    def files_matching(self, condition: Column) -> list[DataFile]:
        """Query Delta's log for the files, in one Spark job."""
        resolved = self.read_files([]).where(condition)._jdf.queryExecution().analyzed().condition()
        return list(scala_items(self._snapshot.filesForScan(self._seq([resolved]), False).files()))

    def read_files(self, files: Sequence[DataFile]) -> DataFrame:
        """The rows of these files."""
        none = self._jvm.scala.Option.empty()
        frame = self._log.createDataFrame(self._snapshot, self._seq(files), False, none)
        return DataFrame(frame, self._spark)

    def commit(self, rows: DataFrame, replaced: Sequence[DataFile] = ()) -> None:
        """Add the rows and remove the files, marked with the application id and the batch number."""
        delta = self._jvm.org.apache.spark.sql.delta
        self._transaction.readTxn().addOne(self._app_id)
        now = self._jvm.scala.Option.apply(time.time_ns() // 1_000_000)
        mark = delta.actions.SetTransaction(self._app_id, self._batch_number, now)
        modes, none = self._jvm.org.apache.spark.sql.streaming.OutputMode, self._jvm.scala.Option.empty()
        mode = modes.Update() if replaced else modes.Append()
        operation = getattr(delta, "DeltaOperations$StreamingUpdate")(mode, self._app_id, self._batch_number, none)
        added = self._transaction.writeFiles(rows._jdf)
        removed = self._seq([file.remove() for file in replaced])
        self._transaction.commit(added.appendedAll(removed).appended(mark), operation)

    def _seq(self, items: Sequence[Any]) -> Any:
        return self._jvm.PythonUtils.toSeq(list(items))
