"""Rebuild the derived tables from the archive in another directory, with the queries of the job and no broker."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.job import AVAILABLE_NOW, Job, JobConfig
from lineproof.streaming.recovery.failures import explain
from lineproof.streaming.run import Progress, follow
from lineproof.streaming.tables.archive import COORDINATES


def rebuild_config(archive_in: str, tables: str, checkpoints: str, schema_ids: Mapping[int, int]) -> JobConfig:
    """A job without a broker: it reads no topic and publishes nothing."""
    return JobConfig(
        kafka={},
        topic="",
        dead_letter_topic="",
        tables=tables,
        checkpoints=checkpoints,
        trigger=AVAILABLE_NOW,
        graph_trigger=AVAILABLE_NOW,
        max_offsets_per_trigger=1,
        schema_ids=schema_ids,
        archive_in=archive_in,
    )


def rebuild(
    spark: SparkSession,
    config: JobConfig,
    select: Callable[[DataFrame], DataFrame],
    report: Callable[[Progress], None],
    is_stopping: Callable[[], bool],
) -> None:
    """Rebuild the tables from the selected rows of the archive. Continues a rebuild that was stopped."""
    job = Job(spark, config)
    try:
        job.prepare_derived()
        for start in (partial(job.start_curate, select), job.start_graph):
            if is_stopping():
                return
            query = start()
            try:
                follow([query], job.counted, report, is_stopping)
            finally:
                query.stop()
    except (PySparkException, Py4JError) as error:
        raise explain(str(error)) from error


def select_records(archived: DataFrame, condition: str, coordinates: Path | None) -> DataFrame:
    """Rows of the archive by a condition on rows aliased `archive` and, if given, by a Parquet file of coordinates."""
    rows = archived.alias("archive").where(condition)
    if coordinates is None:
        return rows
    selected = archived.sparkSession.read.parquet(str(coordinates))
    return rows.join(F.broadcast(selected), list(COORDINATES), "left_semi")
