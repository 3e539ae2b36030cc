"""The streaming job in this process, until it has caught up or a signal stops it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from lineproof.local.job_config import NO_RECOVERY, Recovery, job_config
from lineproof.local.job_lock import job_lock
from lineproof.local.job_topics import describe_topics, prepare_topics
from lineproof.local.logs import job_log, python_log
from lineproof.local.maintenance import maintenance_schedule, maintenance_task
from lineproof.local.spark_session import jvm_end_explained, spark_session, stop_session
from lineproof.local.stop_deadline import StopDeadline
from lineproof.local.stop_signal import StopSignal
from lineproof.schemas.durations import AVAILABLE_NOW
from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings
from lineproof.streaming.delta.private_api.jvm_process import jvm_process
from lineproof.streaming.recovery.start_over import start_over
from lineproof.streaming.run import Progress, run
from lineproof.streaming.session import was_submitted
from lineproof.streaming.upkeep.background_task import BackgroundTask, background_tasks


def run_job(
    settings: Settings,
    *,
    create_topics: bool,
    report: Callable[[Progress], None],
    started: Callable[[], None] = lambda: None,
    recovery: Recovery = NO_RECOVERY,
    say: Callable[[str], None] = lambda _: None,
) -> bool:
    """Run the job until it has caught up, or until a signal; return whether it ended without a signal.

    `say` gets what a rebuild removes.
    """
    stop = StopSignal()
    stop.listen()
    with _failures_logged(settings), job_lock(settings) as lock:
        prepare_topics(settings, create_topics)
        config = job_config(settings, recovery)
        spark = spark_session(settings)
        stop.listen()
        with StopDeadline(stop, jvm_process(spark)) as deadline, jvm_end_explained(spark):
            try:
                if recovery.rebuild:
                    with lock.alone():
                        start_over(spark, config, say)
                with background_tasks(tasks(spark, settings), report, started) as (report_batch, on_start):
                    run(spark, config, lambda: describe_topics(settings), report_batch, stop, on_start, deadline.begin)
            finally:
                stop_session(spark)
    return not stop()


@contextmanager
def _failures_logged(settings: Settings) -> Iterator[None]:
    """Write a line about a failure to the job's log, followed by the stack trace of its cause, if it has one.

    After `spark-submit` there is no such log: the cluster collects what the command line prints.
    """
    if was_submitted():
        yield
        return
    with python_log(job_log(settings)) as log:
        try:
            yield
        except LineproofError as error:
            log.exception("The job failed. %s %s", error.what, error.remedy, exc_info=error.__cause__)
            raise
        except Exception as error:
            log.exception("The job failed unexpectedly. %s: %s", type(error).__name__, error)  # noqa: TRY401
            raise


def tasks(spark: SparkSession, settings: Settings) -> Iterator[BackgroundTask]:
    """Quality suites and maintenance at the configured intervals; none in a job that ends when it has caught up."""
    if settings.trigger == AVAILABLE_NOW:
        return
    if settings.quality.run_every:
        from lineproof.local.quality import quality_task  # needs Great Expectations, which is optional

        yield quality_task(spark, settings)
    if maintenance_schedule(settings):
        yield maintenance_task(spark, settings)
