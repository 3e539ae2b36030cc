"""The queries that read our own tables as streams, and how far each has come.

What maintenance takes out of a table, a query that is behind has still to read: from the table's log and its old files.
"""

import json
import time
from collections.abc import Callable
from datetime import datetime, timezone

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.delta.files import Directory
from lineproof.streaming.delta.snapshot import version
from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.recovery.checkpoint import Checkpoint, read_checkpoint
from lineproof.streaming.tables import archive, lineage_events

READERS = {archive.TABLE.name: "curate", lineage_events.TABLE.name: "graph"}
"""The query that reads a table as a stream."""

POLL_S = 1.0


class Readers:
    """Curate and graph, as their checkpoints show them."""

    def __init__(self, spark: SparkSession, store: Store, checkpoints: str) -> None:
        self._spark = spark
        self._store = store
        self._checkpoints = checkpoints

    def unread_since(self, table: Table) -> datetime | None:
        """When the first of the rows came that the reader of a table has not read; None if it has read all."""
        unread = self._unread(table)
        if unread is None:
            return None
        [(at,)] = unread.agg(F.min(F.unix_millis("timestamp"))).collect()
        return None if at is None else datetime.fromtimestamp(at / 1000, timezone.utc)

    def pass_by(self, patience_s: float, is_stopping: Callable[[], bool]) -> bool:
        """Wait until what is in the tables now has been read by all; False if that takes longer."""
        deadline = time.monotonic() + patience_s

        def wait() -> bool:
            time.sleep(POLL_S)
            return time.monotonic() < deadline and not is_stopping()

        planned = self._checkpoint("curate").last_planned_batch
        while self._checkpoint("curate").last_finished_batch < planned:
            if not wait():
                return False
        # Now, what the batch of curate that was under way has written is there for graph.
        newest = version(self._spark, self._store.path(lineage_events.TABLE))
        while not self._has_read(lineage_events.TABLE, newest):
            if not wait():
                return False
        return True

    def _has_read(self, table: Table, newest: int) -> bool:
        """Whether the reader of a table has read it up to a version."""
        unread = self._unread(table)
        return unread is None or unread.where(f"version <= {newest}").isEmpty()

    def _unread(self, table: Table) -> DataFrame | None:
        """The commits that the reader of a table has not read; None if there are none, or there is no reader."""
        position = self._position(READERS[table.name]) if table.name in READERS else None
        if position is None:
            return None
        first, is_first_look = position
        path = self._store.path(table)
        count = version(self._spark, path) - first + 1
        if count <= 0:
            return None
        commits: DataFrame = DeltaTable.forPath(self._spark, path).history(count)
        rows = F.coalesce(F.col("operationMetrics")["numOutputRows"], F.lit("0"))
        is_added = F.col("operation").isin("WRITE", "STREAMING UPDATE") & (rows != "0")
        # A reader that has not seen the table before begins with all that is in it.
        return commits if is_first_look else commits.where(is_added)

    def _position(self, query: str) -> tuple[int, bool] | None:
        """The first version that a query has not read to its end, and whether it is still at its first look."""
        checkpoint = self._checkpoint(query)
        if checkpoint.query_id is None:
            return None
        entry = Directory(self._spark, checkpoint.path).read(f"offsets/{checkpoint.last_finished_batch}")
        if entry is None:
            return 0, True
        offset = json.loads(entry.splitlines()[-1])
        return int(offset["reservoirVersion"]), bool(offset["isStartingVersion"])

    def _checkpoint(self, query: str) -> Checkpoint:
        return read_checkpoint(self._spark, f"{self._checkpoints}/{query}")
