"""Whether a checkpoint and the tables written from it belong together.

Delta recognises a repeated batch by the application id and batch number of its last write. A new checkpoint
would read everything again under a new id (duplicates), and an old copy of the right one would have its
batches skipped as already written (losses). Both are refused before the first batch.
"""

import json
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from lineproof.schemas.errors import LineproofError


class CheckpointError(LineproofError):
    """Checkpoint and tables do not belong together."""


START_OVER = (
    "Put the right ones back, or point `tables` and `checkpoints` at the pair that belongs together. To start over, "
    "use an empty directory for both: the topic is then read from its beginning."
)
REBUILD = (
    "Put the right ones back. Or remove this checkpoint and all tables but `archive`: they are then rebuilt from the "
    "archive, and nothing is lost."
)


@dataclass(frozen=True)
class Checkpoint:
    """What Spark left in a query's checkpoint directory."""

    path: str
    query_id: str | None
    last_planned_batch: int
    last_finished_batch: int


def read_checkpoint(spark: SparkSession, path: str) -> Checkpoint:
    """Read a query's checkpoint, which need not be there yet."""
    jvm: Any = spark._jvm
    hadoop_path = jvm.org.apache.hadoop.fs.Path(path)
    file_system = hadoop_path.getFileSystem(spark._jsc.hadoopConfiguration())

    def last_entry(directory: str) -> int:
        entries = jvm.org.apache.hadoop.fs.Path(hadoop_path, directory)
        if not file_system.exists(entries):
            return -1
        names = [status.getPath().getName() for status in file_system.listStatus(entries)]
        return max((int(name) for name in names if name.isdigit()), default=-1)

    metadata = jvm.org.apache.hadoop.fs.Path(hadoop_path, "metadata")
    query_id = None
    if file_system.exists(metadata):
        stream = file_system.open(metadata)
        try:
            query_id = json.loads(bytes(stream.readAllBytes()))["id"]
        finally:
            stream.close()
    return Checkpoint(path, query_id, last_entry("offsets"), last_entry("commits"))


def transactions(spark: SparkSession, table_path: str) -> dict[str, int]:
    """The last batch number that each application id wrote to a Delta table."""
    jvm: Any = spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, table_path)
    nothing = jvm.scala.Option.empty()
    written = log.update(False, nothing, nothing).transactions()
    found: dict[str, int] = {}
    iterator = written.iterator()
    while iterator.hasNext():
        pair = iterator.next()
        found[pair._1()] = pair._2()
    return found


def refuse_missing(checkpoint: Checkpoint, table_path: str, remedy: str) -> None:
    """Refuse to make anew a table that this checkpoint has written to."""
    if checkpoint.last_finished_batch >= 0:
        raise CheckpointError(
            f"The table {table_path} is missing, but the checkpoint {checkpoint.path} says that "
            f"{checkpoint.last_finished_batch + 1} batches were written to it.",
            remedy,
        )


def refuse_mismatch(
    checkpoint: Checkpoint, app_id: str | None, table_path: str, written: dict[str, int], remedy: str
) -> None:
    """Refuse a table that this checkpoint did not write, or wrote further than the checkpoint knows of."""
    if not written:
        return
    if app_id not in written:
        raise CheckpointError(
            f"The table {table_path} was not written from the checkpoint {checkpoint.path}, "
            f"which is {'missing' if checkpoint.query_id is None else 'another one'}.",
            remedy,
        )
    if written[app_id] > checkpoint.last_planned_batch:
        raise CheckpointError(
            f"The checkpoint {checkpoint.path} ends at batch {checkpoint.last_planned_batch}, but the table "
            f"{table_path} has batch {written[app_id]}: the checkpoint is an old copy, and batches run from it "
            "would be lost.",
            remedy,
        )
