"""The job: three streaming queries in one application, each with its own checkpoint.

Ingest appends the topic to `archive`. Curate merges `archive` into `lineage_events`, `runs` and the other tables about
events and runs. Graph merges `lineage_events` into jobs, datasets and lineage.
Run it with `lineproof job`, or on a cluster with `spark-submit streaming/main.py --config FILE`.
"""

from pyspark.sql import SparkSession

from lineproof.streaming.config import JobConfig
from lineproof.streaming.curate import Curate
from lineproof.streaming.ingest import Ingest


class Job:
    """The three queries over one set of tables."""

    def __init__(self, spark: SparkSession, config: JobConfig) -> None:
        self.ingest = Ingest(spark, config.ingest)
        self.curate = Curate(spark, config.curate)

    def prepare(self) -> None:
        """Create the tables on the first start; later, refuse tables and checkpoints that do not match."""
        self.ingest.prepare()
        self.curate.prepare()
