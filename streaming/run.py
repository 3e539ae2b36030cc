"""Run the job: start its queries, report their batches, and stop when they have caught up or are asked to stop."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lineproof.schemas.durations import AVAILABLE_NOW
from lineproof.streaming.config import JobConfig
from lineproof.streaming.job import Job
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
    current_topics: Callable[[], Sequence[Topic]],
    report: Callable[[Progress], None],
    is_stopping: Callable[[], bool],
    started: Callable[[], None] = lambda: None,
) -> None:
    """Run the job until it has caught up (`available-now`), or until `is_stopping` is true.

    `current_topics` asks the broker for the topics. `started` is called once topic, checkpoints and tables are known to
    belong together.
    """
    job = Job(spark, config)
    queries: list[StreamingQuery] = []
    try:
        job.prepare()
        job.ingest.check_topics(current_topics(), config.ingest.accept_loss)
        started()
        starts = (job.ingest.start, job.curate.start_curate, job.curate.start_graph)
        if config.ingest.trigger == AVAILABLE_NOW:
            for start in starts:
                queries = [start()]
                follow(queries, job.curate.row_counts, report, is_stopping)
        else:
            queries = [start() for start in starts]
            follow(queries, job.curate.row_counts, report, is_stopping)
    except (PySparkException, Py4JError) as error:
        if is_data_loss(str(error)):
            job.ingest.check_topics(current_topics())
        raise explain(str(error)) from error
    finally:
        for query in queries:
            query.stop()


def follow(
    queries: list[StreamingQuery],
    row_counts: dict[tuple[str, int], int],
    report: Callable[[Progress], None],
    is_stopping: Callable[[], bool],
) -> None:
    """Report the batches of the queries until one query ends, or `is_stopping` is true."""
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
                            rows=row_counts.pop((str(query.name), progress.batchId), progress.numInputRows),
                            seconds=progress.batchDuration / 1000,
                        )
                    )
