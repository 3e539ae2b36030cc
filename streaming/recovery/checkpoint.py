"""Whether a checkpoint and the tables written from it belong together.

Delta recognises a repeated batch by the application id and batch number of its last write. A new checkpoint
would read everything again under a new id (duplicates), and an old copy of the right one would have its
batches skipped as already written (losses). Both are refused before the first batch.
"""

import json
from dataclasses import dataclass

from pyspark.sql import SparkSession

from lineproof.schemas.errors import LineproofError
from lineproof.streaming.delta.files import Directory


class CheckpointError(LineproofError):
    """Checkpoint and tables do not belong together."""


START_OVER = (
    "Put it back, or point `tables` and `checkpoints` at the pair that belongs together. To start over, use an empty "
    "directory for both: the topic is then read from its beginning."
)
RESTORE = (
    "Put the right one back, or point `tables` and `checkpoints` at the pair that belongs together. Or remove this "
    "checkpoint and start once with --restore-checkpoint: it is made anew from the archive, and ingest goes on after "
    "the last record that is archived."
)
REBUILD = (
    "Put the right ones back. Or remove the checkpoints `curate` and `graph` and all tables but `archive`: they are "
    "then rebuilt from the archive, and nothing is lost."
)
SAME_TIME = (
    "Put back tables and checkpoints of the same time. Or remove all checkpoints and all tables but `archive`, and "
    "start once with --restore-checkpoint: ingest goes on after the last record that is archived, and the other "
    "tables are rebuilt."
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
    files = Directory(spark, path)
    metadata = files.read("metadata")
    return Checkpoint(
        path,
        json.loads(metadata)["id"] if metadata else None,
        max(files.numbers("offsets"), default=-1),
        max(files.numbers("commits"), default=-1),
    )


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
        batches = ", ".join(f"batch {batch} of {writer}" for writer, batch in written.items())
        raise CheckpointError(
            f"The table {table_path} was not written from the checkpoint {checkpoint.path}, "
            f"which is {'missing' if checkpoint.query_id is None else f'another one, {app_id}'}. "
            f"It was last written by {batches}.",
            remedy,
        )
    if written[app_id] > checkpoint.last_planned_batch:
        raise CheckpointError(
            f"The checkpoint {checkpoint.path} ends at batch {checkpoint.last_planned_batch}, but the table "
            f"{table_path} has batch {written[app_id]}: the checkpoint is an old copy, and batches run from it "
            "would be lost.",
            remedy,
        )


def refuse_older_archive(checkpoint: Checkpoint, table_path: str, written: dict[str, int], moved_at: int) -> None:
    """Refuse an archive that lacks batches which its checkpoint knows to be done.

    Every batch of ingest writes to it, but for one that stands for records that were given up.
    """
    last = written.get(str(checkpoint.query_id), -1)
    if last < checkpoint.last_finished_batch != moved_at:
        raise CheckpointError(
            f"The table {table_path} ends at batch {last}, but the checkpoint {checkpoint.path} has finished batch "
            f"{checkpoint.last_finished_batch}: the table is an old copy, and what came since would be missing.",
            SAME_TIME,
        )
