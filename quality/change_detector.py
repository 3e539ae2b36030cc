"""Detect new events, so that suites run only when there is something new to check.

The results of a suite are events too. If they counted as new events, each run of the suites would start the next one.
So events of jobs named `quality.…` do not count, whether this lineproof or another one on the same topic sent them.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.quality.lineage import JOB_PREFIX
from lineproof.streaming.delta.private_api.delta_log import version
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.tables import lineage_events

_COMMIT = "add STRUCT<path: STRING, dataChange: BOOLEAN>, remove STRUCT<dataChange: BOOLEAN>"


class ChangeDetector:
    """Remembers the version of `lineage_events` at which it last looked for new events."""

    def __init__(self, spark: SparkSession, tables: str) -> None:
        self._spark = spark
        self._reader = TableReader(spark, tables)
        self._version: int | None = None

    def has_new_events(self) -> bool:
        """Whether events were added since the last call; on the first call, whether there are any events at all."""
        newest = version(self._spark, self._reader.path(lineage_events.TABLE))
        events = (
            self._reader.read(lineage_events.TABLE) if self._version is None else self._added(self._version, newest)
        )
        self._version = newest
        is_quality_job = F.coalesce(F.col("job_name").startswith(JOB_PREFIX), F.lit(False))
        return not events.where(~is_quality_job).isEmpty()

    def _added(self, known: int, newest: int) -> DataFrame:
        """Rows added between two versions, found in the Delta log: compaction writes files but adds no rows."""
        path = self._reader.path(lineage_events.TABLE)
        logs = [f"{path}/_delta_log/{number:020}.json" for number in range(known + 1, newest + 1)]
        files: list[str] = []
        if logs:
            actions = self._spark.read.schema(_COMMIT).json(logs).select("*", F.col("_metadata.file_path").alias("log"))
            changing = actions.where("remove.dataChange").select("log")
            added = actions.where("add.dataChange").join(changing, "log", "left_anti")
            files = [f"{path}/{row[0]}" for row in added.select("add.path").collect()]
        empty = self._spark.createDataFrame([], lineage_events.TABLE.struct)
        return self._spark.read.schema(empty.schema).parquet(*files) if files else empty
