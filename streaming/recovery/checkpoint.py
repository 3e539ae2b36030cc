"""Check that a checkpoint and the tables written from it belong together.

Delta recognises a repeated batch by the application id and the batch number of its last write. A new checkpoint would
read everything again under a new id and write duplicates. With an old copy of the right checkpoint, new batches would
be skipped as already written and lost. Both are refused before the first batch.
"""

from dataclasses import dataclass

from pyspark.sql import SparkSession

from lineproof.schemas.errors import LineproofError
from lineproof.streaming.delta.private_api.checkpoint_log import CheckpointLog


class CheckpointError(LineproofError):
    """Checkpoint and tables do not belong together."""


START_OVER = (
    "Restore it, or point `tables` and `checkpoints` at directories that belong together. To start over, use empty "
    "directories for both: the topic is then read from its beginning."
)
RESTORE = (
    "Restore the right checkpoint, or point `tables` and `checkpoints` at directories that belong together. Or remove "
    "this checkpoint and start once with --restore-checkpoint: it is restored from the archive, and ingest continues "
    "after the last archived record."
)
REBUILD = (
    "Restore the right tables and checkpoints. Or start once with --rebuild: all tables except the archive are made "
    "again from it, and nothing is lost."
)
SAME_TIME = (
    "Restore tables and checkpoints of the same time. Or remove the checkpoint `ingest`, and start once with "
    "--restore-checkpoint --rebuild: ingest continues after the last archived record, and the other tables are made "
    "again."
)


@dataclass(frozen=True)
class Checkpoint:
    """The state of a query's checkpoint directory. Batch numbers are -1 where there is none."""

    path: str
    query_id: str | None
    last_planned_batch: int
    last_finished_batch: int


def read_checkpoint(spark: SparkSession, path: str) -> Checkpoint:
    """Read a query's checkpoint. The directory need not exist yet."""
    log = CheckpointLog(spark, path)
    return Checkpoint(path, log.query_id(), log.last_planned_batch(), log.last_finished_batch())


def refuse_missing(checkpoint: Checkpoint, table_path: str, remedy: str) -> None:
    """Refuse a missing table that this checkpoint has written to: a new table would lack those batches."""
    if checkpoint.last_finished_batch >= 0:
        raise CheckpointError(
            f"The table {table_path} is missing, but the checkpoint {checkpoint.path} says that "
            f"{checkpoint.last_finished_batch + 1} batches were written to it.",
            remedy,
        )


def refuse_mismatch(
    checkpoint: Checkpoint, app_id: str | None, table_path: str, written: dict[str, int], remedy: str
) -> None:
    """Refuse a table that was written from another checkpoint, or with later batches than this checkpoint has."""
    if not written:
        return
    if app_id not in written:
        batches = ", ".join(f"batch {batch} of {writer}" for writer, batch in written.items())
        raise CheckpointError(
            f"The table {table_path} was written from another checkpoint than {checkpoint.path}, "
            f"which {'is missing' if checkpoint.query_id is None else f'has the id {app_id}'}. "
            f"It was last written by {batches}.",
            remedy,
        )
    if written[app_id] > checkpoint.last_planned_batch:
        raise CheckpointError(
            f"The checkpoint {checkpoint.path} ends at batch {checkpoint.last_planned_batch}, but the table "
            f"{table_path} has batch {written[app_id]}: the checkpoint is an old copy, and the batches run from it "
            "would be lost.",
            remedy,
        )


def refuse_older_archive(checkpoint: Checkpoint, table_path: str, written: dict[str, int], moved_at: int) -> None:
    """Refuse an archive that lacks batches which its checkpoint lists as finished.

    Every batch of ingest writes to the archive, except `moved_at`, which skips lost records.
    """
    last = written.get(str(checkpoint.query_id), -1)
    if last < checkpoint.last_finished_batch != moved_at:
        raise CheckpointError(
            f"The table {table_path} ends at batch {last}, but the checkpoint {checkpoint.path} has finished batch "
            f"{checkpoint.last_finished_batch}: the table is an old copy, and the later records would be missing.",
            SAME_TIME,
        )
