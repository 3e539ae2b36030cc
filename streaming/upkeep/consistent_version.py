"""The version of a table at the end of the last finished batch.

A batch writes one table after the other. During a batch, a record may exist whose event does not exist yet. To compare
tables while the job runs, read this version of the table whose rows are looked up, and the newest version of the
others, which only grow.
"""

from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.delta.files import Directory
from lineproof.streaming.job import CURATED, GRAPH
from lineproof.streaming.recovery.checkpoint import read_checkpoint

COMMITS = 20
"""How many commits to look back. A batch makes two per table, and maintenance may add some."""


def consistent_version(spark: SparkSession, table: str, path: str, checkpoints: str) -> int | None:
    """The version of a table after the last finished batch; None if no query of the job writes it."""
    query = next(
        (name for name, modules in (("curate", CURATED), ("graph", GRAPH)) if table in {m.TABLE.name for m in modules}),
        None,
    )
    if query is None or not checkpoints or not DeltaTable.isDeltaTable(spark, path):
        return None
    committed = _commits(spark, path)
    # Read the checkpoint after the table: a batch that has finished by now has written all of its tables.
    checkpoint = read_checkpoint(spark, f"{checkpoints}/{query}")
    newest = max(committed)
    if checkpoint.last_planned_batch == checkpoint.last_finished_batch:
        return newest
    commit = f"commits/{checkpoint.last_finished_batch}"
    finished_at = Directory(spark, checkpoint.path).modified_ms(commit) or 0
    return max((version for version, at in committed.items() if at <= finished_at), default=min(committed))


def _commits(spark: SparkSession, path: str) -> dict[int, int]:
    """The last versions of a table, with the time of each in milliseconds."""
    history: Any = DeltaTable.forPath(spark, path).history(COMMITS)
    return {row.version: row.at for row in history.select("version", F.unix_millis("timestamp").alias("at")).collect()}
