"""The rule that keeps the loop finite: results of tests are events too, and must not be a reason to test again.

On the cadence, suites are run only if an event has come, since the last time, that is of no job called `quality.…`. So
what they emit leads to no further run, neither of these suites nor of those of another lineproof on the same topic.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.quality.lineage import JOBS
from lineproof.streaming.delta.snapshot import version
from lineproof.streaming.delta.store import Store
from lineproof.streaming.tables import lineage_events

_COMMIT = "add STRUCT<path: STRING, dataChange: BOOLEAN>, remove STRUCT<dataChange: BOOLEAN>"


class News:
    """Events of others in `lineage_events`, since this was last asked."""

    def __init__(self, spark: SparkSession, tables: str) -> None:
        self._spark = spark
        self._store = Store(spark, tables)
        self._version: int | None = None

    def have_come(self) -> bool:
        """Whether there are any; at first, whether there ever were."""
        newest = version(self._spark, self._store.path(lineage_events.TABLE))
        events = self._store.read(lineage_events.TABLE) if self._version is None else self._added(self._version, newest)
        self._version = newest
        is_of_quality = F.coalesce(F.col("job_name").startswith(JOBS), F.lit(False))
        return not events.where(~is_of_quality).isEmpty()

    def _added(self, known: int, newest: int) -> DataFrame:
        """What was added between two versions, as the log has it: maintenance writes files without any news."""
        path = self._store.path(lineage_events.TABLE)
        logs = [f"{path}/_delta_log/{number:020}.json" for number in range(known + 1, newest + 1)]
        files: list[str] = []
        if logs:
            actions = self._spark.read.schema(_COMMIT).json(logs).select("*", F.col("_metadata.file_path").alias("log"))
            changing = actions.where("remove.dataChange").select("log")
            added = actions.where("add.dataChange").join(changing, "log", "left_anti")
            files = [f"{path}/{row[0]}" for row in added.select("add.path").collect()]
        nothing = self._spark.createDataFrame([], lineage_events.TABLE.struct)
        return self._spark.read.schema(nothing.schema).parquet(*files) if files else nothing
