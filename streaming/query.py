"""A streaming query of the job: its name, its checkpoint, and the tables that belong to it."""

from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from lineproof.schemas.durations import AVAILABLE_NOW
from lineproof.streaming.delta.definition import create_table
from lineproof.streaming.delta.private_api.checkpoint_log import CheckpointLog
from lineproof.streaming.delta.private_api.delta_log import transactions
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.recovery.checkpoint import Checkpoint, read_checkpoint, refuse_mismatch, refuse_missing
from lineproof.streaming.recovery.migrations import migrate

FIRST_TRIGGER = "1 second"


class Query:
    """A query that Spark knows by its name, in a scheduler pool of the same name."""

    def __init__(self, spark: SparkSession, name: str, checkpoints: str) -> None:
        self._spark = spark
        self._name = name
        self._id: str | None = None
        self.checkpoint_path = f"{checkpoints}/{name}"

    def checkpoint(self) -> Checkpoint:
        """The checkpoint as it is now."""
        return read_checkpoint(self._spark, self.checkpoint_path)

    def id(self) -> str:
        """The id of the query. Spark writes it before the first batch, and never changes it."""
        self._id = self._id or self.checkpoint().query_id
        return str(self._id)

    def end_of(self, batch: int) -> Any:
        """Where a batch ends in its source, as Spark planned it before the batch was started."""
        return CheckpointLog(self._spark, self.checkpoint_path).end_offset(batch)

    def start(self, writer: DataStreamWriter, trigger: str) -> StreamingQuery:
        """Start the query; with the trigger `available-now` it ends when it has caught up.

        A new query looks for its first data every second: the first events after an installation are seen at once.
        The caller restarts it afterwards, since a query cannot change its trigger (`is_new`).
        """
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", self._name)
        if trigger == AVAILABLE_NOW:
            triggered = writer.trigger(availableNow=True)
        else:
            is_short = trigger.endswith("milliseconds")
            is_first = not is_short and is_new(self.checkpoint())
            triggered = writer.trigger(processingTime=FIRST_TRIGGER if is_first else trigger)
        return triggered.queryName(self._name).option("checkpointLocation", self.checkpoint_path).start()


def is_new(checkpoint: Checkpoint) -> bool:
    """Whether the query has never had any data."""
    return checkpoint.last_planned_batch < 0


def prepare_table(
    spark: SparkSession,
    root: str,
    table: Table,
    checkpoint: Checkpoint,
    app_id: str | None,
    *,
    if_missing: str,
    if_mismatch: str,
) -> None:
    """Create the table on the first start; later, migrate it, or refuse a table that was written by another query.

    `if_missing` and `if_mismatch` say what to do then.
    """
    tables = TableReader(spark, root)
    path = tables.path(table)
    if tables.exists(table):
        refuse_mismatch(checkpoint, app_id, path, transactions(spark, path), if_mismatch)
        migrate(spark, path, table)
    else:
        refuse_missing(checkpoint, path, if_missing)
        create_table(spark, path, table)
