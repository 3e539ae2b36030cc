"""Run the job: start its queries, report their batches, and stop when they have caught up or are asked to stop."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lineproof.schemas.durations import AVAILABLE_NOW
from lineproof.schemas.tables import CURATE, GRAPH, INGEST
from lineproof.streaming.config import JobConfig
from lineproof.streaming.heartbeat import Heartbeat
from lineproof.streaming.job import Job
from lineproof.streaming.query import is_new
from lineproof.streaming.recovery.checkpoint import read_checkpoint
from lineproof.streaming.recovery.failures import explain, is_data_loss
from lineproof.streaming.recovery.topic import Topic

POLL_S = 1
QUERIES = (INGEST, CURATE, GRAPH)


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
    ending: Callable[[], None] = lambda: None,
) -> None:
    """Run the job until it has caught up (`available-now`), or until `is_stopping` is true.

    `current_topics` asks the broker for the topics. `started` is called once topic, checkpoints and tables are known to
    belong together, and `ending` before the queries are stopped.
    """
    job = Job(spark, config)
    queries: list[StreamingQuery] = []
    with Heartbeat(spark, config.ingest.checkpoints, config.stalled_after_s) as heartbeat:
        try:
            job.prepare()
            job.ingest.check_topics(current_topics(), config.ingest.accept_loss)
            heartbeat.running()
            started()
            starts = (job.ingest.start, job.curate.start_curate, job.curate.start_graph)
            if config.ingest.trigger == AVAILABLE_NOW:
                for start in starts:
                    queries[:] = [start()]
                    follow(queries, job.curate.row_counts, report, is_stopping, heartbeat.observe)
            else:
                new = {
                    name for name in QUERIES if is_new(read_checkpoint(spark, f"{config.ingest.checkpoints}/{name}"))
                }
                queries += [start() for start in starts]
                restart = partial(_restart_new, new, queries, dict(zip(QUERIES, starts, strict=True)))
                follow(queries, job.curate.row_counts, _both(report, restart), is_stopping, heartbeat.observe)
        except (PySparkException, Py4JError) as error:
            if is_data_loss(str(error)):
                job.ingest.check_topics(current_topics())
            raise explain(str(error)) from error
        finally:
            ending()
            heartbeat.stopping()
            for query in queries:
                with suppress(Py4JError, OSError):  # the JVM has ended
                    query.stop()


def _restart_new(
    new: set[str], queries: list[StreamingQuery], starts: dict[str, Callable[[], StreamingQuery]], batch: Progress
) -> None:
    """Restart a new query after its first batch, for which it has looked every second: now with its own trigger."""
    if batch.query in new:
        new.remove(batch.query)
        number = QUERIES.index(batch.query)
        queries[number].stop()
        queries[number] = starts[batch.query]()


def _both(first: Callable[[Progress], None], second: Callable[[Progress], None]) -> Callable[[Progress], None]:
    def call(batch: Progress) -> None:
        first(batch)
        second(batch)

    return call


def follow(
    queries: list[StreamingQuery],
    row_counts: dict[tuple[str, int], int],
    report: Callable[[Progress], None],
    is_stopping: Callable[[], bool],
    observe: Callable[[StreamingQuery, Sequence[Progress]], None] = lambda _query, _finished: None,
) -> None:
    """Report the batches of the queries until one query ends, or `is_stopping` is true."""
    reported = {query.name: -1 for query in queries}
    is_active = True
    while is_active and not is_stopping():
        queries[0].awaitTermination(POLL_S)
        ended = [query for query in queries if not query.isActive]
        is_active = not ended
        for query in ended:
            query.awaitTermination()  # raises the error, if it has failed
        for query in list(queries):
            finished = _finished(query, reported[query.name], row_counts)
            for progress in finished:
                reported[query.name] = progress.batch
                report(progress)
            observe(query, finished)


def _finished(query: StreamingQuery, reported: int, row_counts: dict[tuple[str, int], int]) -> list[Progress]:
    """The batches with rows after the one that was last reported."""
    newest = query.lastProgress  # one call, where the list takes two hundred
    if newest is None or newest.batchId <= reported:
        return []
    return [
        Progress(
            query=str(query.name),
            batch=progress.batchId,
            rows=row_counts.pop((str(query.name), progress.batchId), progress.numInputRows),
            seconds=progress.batchDuration / 1000,
        )
        for progress in query.recentProgress
        if progress.batchId > reported and progress.numInputRows > 0
    ]
