"""All tables that are made of the archive, made once more in a place apart: by the same queries as in the job."""

from collections.abc import Callable, Mapping
from functools import partial

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lineproof.streaming.job import AVAILABLE_NOW, Job, JobConfig
from lineproof.streaming.recovery.failures import explain
from lineproof.streaming.run import Progress, follow


def rebuild_config(archive_in: str, tables: str, checkpoints: str, schema_ids: Mapping[int, int]) -> JobConfig:
    """The job's, without a broker: nothing is read from a topic, and nothing is sent to one."""
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
    """Make the tables of what is selected of the archive. One that was stopped goes on where it was."""
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
