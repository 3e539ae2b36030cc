"""How far the queries that read our own tables as streams have come.

A query that is behind still has to read rows and files that maintenance is about to remove.
"""

import time
from collections.abc import Callable
from datetime import datetime, timezone

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.delta.private_api.checkpoint_log import CheckpointLog
from lineproof.streaming.delta.private_api.delta_log import version
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.recovery.checkpoint import Checkpoint, read_checkpoint
from lineproof.streaming.tables import archive, lineage_events

READ_BY = {archive.TABLE.name: "curate", lineage_events.TABLE.name: "graph"}
"""The query that reads each table as a stream."""

POLL_S = 1.0


class StreamProgress:
    """The progress of curate and graph, read from their checkpoints."""

    def __init__(self, spark: SparkSession, tables: TableReader, checkpoints: str) -> None:
        self._spark = spark
        self._tables = tables
        self._checkpoints = checkpoints

    def unread_since(self, table: Table) -> datetime | None:
        """The time of the oldest commit that the query on this table has not read; None if it has read all."""
        unread = self._unread(table)
        if unread is None:
            return None
        [(at,)] = unread.agg(F.min(F.unix_millis("timestamp"))).collect()
        return None if at is None else datetime.fromtimestamp(at / 1000, timezone.utc)

    def wait_until_read(self, timeout_s: float, is_stopping: Callable[[], bool]) -> bool:
        """Wait until curate and graph have read everything that is in the tables now; False on timeout."""
        deadline = time.monotonic() + timeout_s

        def wait() -> bool:
            time.sleep(POLL_S)
            return time.monotonic() < deadline and not is_stopping()

        planned = self._checkpoint("curate").last_planned_batch
        while self._checkpoint("curate").last_finished_batch < planned:
            if not wait():
                return False
        # The batch of curate that was running at the call has finished: graph must read its rows, too.
        newest = version(self._spark, self._tables.path(lineage_events.TABLE))
        while not self._has_read(lineage_events.TABLE, newest):
            if not wait():
                return False
        return True

    def _has_read(self, table: Table, newest: int) -> bool:
        """Whether the query on this table has read it up to a version."""
        unread = self._unread(table)
        return unread is None or unread.where(f"version <= {newest}").isEmpty()

    def _unread(self, table: Table) -> DataFrame | None:
        """The commits that the query on this table has not read; None if there are none, or no such query."""
        position = self._position(READ_BY[table.name]) if table.name in READ_BY else None
        if position is None:
            return None
        first, is_initial_snapshot = position
        path = self._tables.path(table)
        count = version(self._spark, path) - first + 1
        if count <= 0:
            return None
        commits: DataFrame = DeltaTable.forPath(self._spark, path).history(count)
        rows = F.coalesce(F.col("operationMetrics")["numOutputRows"], F.lit("0"))
        is_added = F.col("operation").isin("WRITE", "STREAMING UPDATE") & (rows != "0")
        # A new query starts with a snapshot of the whole table, whatever commits made it.
        return commits if is_initial_snapshot else commits.where(is_added)

    def _position(self, query: str) -> tuple[int, bool] | None:
        """The first version that a query has not read completely, and whether it is still in its initial snapshot."""
        checkpoint = self._checkpoint(query)
        if checkpoint.query_id is None:
            return None
        last = checkpoint.last_finished_batch
        offset = CheckpointLog(self._spark, checkpoint.path).end_offset(last) if last >= 0 else None
        if offset is None:
            return 0, True
        return int(offset["reservoirVersion"]), bool(offset["isStartingVersion"])

    def _checkpoint(self, query: str) -> Checkpoint:
        return read_checkpoint(self._spark, f"{self._checkpoints}/{query}")
