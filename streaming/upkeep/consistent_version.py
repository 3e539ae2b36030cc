"""The version of a table at the end of the last finished batch.

A batch writes one table after the other. During a batch, a record may exist whose event does not exist yet. To compare
tables while the job runs, read this version of the table whose rows are looked up, and the newest version of the
others, which only grow.
"""

from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.schemas.tables import DERIVED
from lineproof.streaming.delta.private_api.checkpoint_log import CheckpointLog
from lineproof.streaming.recovery.checkpoint import read_checkpoint

COMMITS = 20
"""How many commits to look back. A batch makes two per table, and maintenance may add some."""


def consistent_version(spark: SparkSession, table: str, path: str, checkpoints: str) -> int | None:
    """The version of a table after the last finished batch; None if no query of the job writes it."""
    query = {contract.name: contract.written_by for contract in DERIVED}.get(table)
    if query is None or not checkpoints or not DeltaTable.isDeltaTable(spark, path):
        return None
    committed = _commits(spark, path)
    # Read the checkpoint after the table: a batch that has finished by now has written all of its tables.
    checkpoint = read_checkpoint(spark, f"{checkpoints}/{query}")
    newest = max(committed)
    if checkpoint.last_planned_batch == checkpoint.last_finished_batch:
        return newest
    finished_at = CheckpointLog(spark, checkpoint.path).finished_at_ms(checkpoint.last_finished_batch) or 0
    return max((version for version, at in committed.items() if at <= finished_at), default=min(committed))


def _commits(spark: SparkSession, path: str) -> dict[int, int]:
    """The last versions of a table, with the time of each in milliseconds."""
    history: Any = DeltaTable.forPath(spark, path).history(COMMITS)
    return {row.version: row.at for row in history.select("version", F.unix_millis("timestamp").alias("at")).collect()}
