"""What a batch writes to a Delta table, in one commit, once. Beside Delta's public API."""

import time
from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession

from lineproof.streaming.delta.snapshot import each, log_of, transactions_of

File = Any
"""One of a table, as Delta knows it."""


class Commit:
    """Rows that are added to a table, some of them in the place of whole files.

    By a transaction of Delta's, as a write with its options `txnAppId` and `txnVersion`, or a MERGE. But the former
    reads the whole log, in three Spark jobs, to find out whether the batch was written, and the latter looks for what
    it changes in a query of its own. The checksum file knows the one, and who has read the rows knows the other.
    """

    def __init__(self, spark: SparkSession, table_path: str, app_id: str, batch_number: int) -> None:
        self._spark = spark
        self._jvm: Any = spark._jvm
        self._app_id = app_id
        self._batch_number = batch_number
        self._log = log_of(spark, table_path)
        self._transaction = self._log.startTransaction()
        self._snapshot = self._transaction.snapshot()

    @property
    def is_made(self) -> bool:
        """Whether the table has this batch of the application, or a later one."""
        return transactions_of(self._snapshot).get(self._app_id, -1) >= self._batch_number

    def files(self, condition: Column) -> list[File]:
        """Those of the table that may hold a row of which this is true. Delta asks its log, in a Spark job."""
        resolved = self.read([]).where(condition)._jdf.queryExecution().analyzed().condition()
        return list(each(self._snapshot.filesForScan(self._seq([resolved]), False).files()))

    def read(self, files: Sequence[File]) -> DataFrame:
        """The rows of these files."""
        nothing = self._jvm.scala.Option.empty()
        frame = self._log.createDataFrame(self._snapshot, self._seq(files), False, nothing)
        return DataFrame(frame, self._spark)

    def make(self, rows: DataFrame, instead_of: Sequence[File] = ()) -> None:
        """Add the rows and remove the files. Fails if somebody else has removed one of them, or written the batch."""
        delta = self._jvm.org.apache.spark.sql.delta
        self._transaction.readTxn().addOne(self._app_id)
        now = self._jvm.scala.Option.apply(time.time_ns() // 1_000_000)
        mark = delta.actions.SetTransaction(self._app_id, self._batch_number, now)
        modes, nothing = self._jvm.org.apache.spark.sql.streaming.OutputMode, self._jvm.scala.Option.empty()
        mode = modes.Update() if instead_of else modes.Append()
        operation = getattr(delta, "DeltaOperations$StreamingUpdate")(mode, self._app_id, self._batch_number, nothing)
        added = self._transaction.writeFiles(rows._jdf)
        removed = self._seq([file.remove() for file in instead_of])
        self._transaction.commit(added.appendedAll(removed).appended(mark), operation)

    def _seq(self, ones: Sequence[Any]) -> Any:
        return self._jvm.PythonUtils.toSeq(list(ones))
