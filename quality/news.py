"""The rule that keeps the loop finite: results of tests are events too, and must not be a reason to test again.

On the cadence, suites are run only if an event has come, since the last time, that is of no job called `quality.…`. So
what they emit leads to no further run, neither of these suites nor of those of another lineproof on the same topic.
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.quality.lineage import JOBS
from lineproof.quality.rows import files_of, in_files
from lineproof.streaming.store import Store
from lineproof.streaming.tables import lineage_events


class News:
    """Events of others in `lineage_events`, since this was last asked."""

    def __init__(self, spark: SparkSession, tables: str) -> None:
        self._store = Store(spark, tables)
        self._files: frozenset[str] = frozenset()

    def have_come(self) -> bool:
        """Whether there are any; at first, whether there ever were."""
        events = self._store.read(lineage_events.TABLE)
        files = files_of(events)
        added = in_files(events, files - self._files)
        self._files = files
        is_of_quality = F.coalesce(F.col("job_name").startswith(JOBS), F.lit(False))
        return not added.where(~is_of_quality).isEmpty()
