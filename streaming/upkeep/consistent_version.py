"""Tables as they were when their query had last finished a batch.

A batch writes one table after the other, so that in the midst of it a record is there whose event is not. Who compares
tables while the job runs takes this version of the one whose rows are looked for, and the others as they are: they only
grow.
"""

from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.delta.files import Directory
from lineproof.streaming.job import CURATED, GRAPH
from lineproof.streaming.recovery.checkpoint import read_checkpoint

COMMITS = 20
"""How many commits to look back: a batch has two for each table, and maintenance may add some."""


def settled_version(spark: SparkSession, table: str, path: str, checkpoints: str) -> int | None:
    """The version of a table after the last batch that was finished; None where no query of ours compares it."""
    query = next(
        (name for name, modules in (("curate", CURATED), ("graph", GRAPH)) if table in {m.TABLE.name for m in modules}),
        None,
    )
    if query is None or not checkpoints or not DeltaTable.isDeltaTable(spark, path):
        return None
    committed = _commits(spark, path)
    # Read after the table: what a batch wrote there, and has finished by now, is in all others too.
    checkpoint = read_checkpoint(spark, f"{checkpoints}/{query}")
    newest = max(committed)
    if checkpoint.last_planned_batch == checkpoint.last_finished_batch:
        return newest
    commit = f"commits/{checkpoint.last_finished_batch}"
    finished_at = Directory(spark, checkpoint.path).modified_ms(commit) or 0
    return max((version for version, at in committed.items() if at <= finished_at), default=min(committed))


def _commits(spark: SparkSession, path: str) -> dict[int, int]:
    """The last versions of a table, and when each was written."""
    history: Any = DeltaTable.forPath(spark, path).history(COMMITS)
    return {row.version: row.at for row in history.select("version", F.unix_millis("timestamp").alias("at")).collect()}
