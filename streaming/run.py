"""The job at work: its queries from their start until they have caught up, or are told to stop."""

from collections.abc import Callable
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lineproof.streaming.job import AVAILABLE_NOW, Job, JobConfig
from lineproof.streaming.recovery.failures import explain, is_data_loss
from lineproof.streaming.recovery.topic import Topic


@dataclass(frozen=True)
class Progress:
    """One finished batch of one query."""

    query: str
    batch: int
    rows: int
    seconds: float


def run(
    spark: SparkSession,
    config: JobConfig,
    look: Callable[[], Topic],
    report: Callable[[Progress], None],
    is_stopping: Callable[[], bool],
    started: Callable[[], None] = lambda: None,
) -> None:
    """Run the job until it has caught up (`available-now`), or until `is_stopping` says so.

    `look` asks the broker for the topic. `started` is called once topic, checkpoint and tables have been found to
    belong together.
    """
    job = Job(spark, config)
    queries: list[StreamingQuery] = []
    try:
        job.prepare()
        job.settle_topic(look(), config.accept_loss)
        started()
        if config.trigger == AVAILABLE_NOW:
            for start in (job.start_ingest, job.start_curate, job.start_graph):
                queries = [start()]
                follow(queries, job.counted, report, is_stopping)
        else:
            queries = [job.start_ingest(), job.start_curate(), job.start_graph()]
            follow(queries, job.counted, report, is_stopping)
    except (PySparkException, Py4JError) as error:
        if is_data_loss(str(error)):
            job.settle_topic(look())
        raise explain(str(error)) from error
    finally:
        for query in queries:
            query.stop()


def follow(
    queries: list[StreamingQuery],
    counted: dict[tuple[str, int], int],
    report: Callable[[Progress], None],
    is_stopping: Callable[[], bool],
) -> None:
    """Report their batches until one of them ends, or `is_stopping` says so."""
    reported = {query.name: -1 for query in queries}
    is_active = True
    while is_active and not is_stopping():
        is_active = not any(query.awaitTermination(1) for query in queries)
        for query in queries:
            for progress in query.recentProgress:
                if progress.batchId > reported[query.name] and progress.numInputRows > 0:
                    reported[query.name] = progress.batchId
                    report(
                        Progress(
                            query=str(query.name),
                            batch=progress.batchId,
                            rows=counted.pop((str(query.name), progress.batchId), progress.numInputRows),
                            seconds=progress.batchDuration / 1000,
                        )
                    )
