"""The streaming job in this process: from settings to a Spark session to the two queries."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from pyspark.sql import SparkSession

from lineproof.local import jars
from lineproof.local.endpoints import client_options, registry_of
from lineproof.local.java import find_java, log_options
from lineproof.schemas.avro import newest
from lineproof.settings import Settings
from lineproof.streaming import run as work
from lineproof.streaming.job import AVAILABLE_NOW, JobConfig
from lineproof.streaming.recovery.topic import Topic
from lineproof.streaming.session import session, was_submitted
from lineproof.streaming.stages.publish import SCHEMAS, Target
from lineproof.streaming.upkeep.background_task import Watch
from lineproof.streaming.upkeep.maintenance_task import MaintenanceWatch
from lineproof.topics.cluster import Kafka, spark_options


@dataclass(frozen=True)
class Recovery:
    """What the user has said to go on after a refusal (docs/recovery.md). Never a setting: it is for one start."""

    accept_loss: int | None = None
    restore_checkpoint: bool = False


NO_RECOVERY = Recovery()


class Stop:
    """Becomes true when Ctrl-C or SIGTERM asks to stop."""

    def __init__(self) -> None:
        self._asked = False

    def listen(self) -> None:
        """Take the signals. Called late, because Spark's session takes SIGINT for itself when it starts."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def __call__(self) -> bool:
        return self._asked

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._asked = True


def run_job(
    settings: Settings,
    *,
    create_topics: bool,
    report: Callable[[work.Progress], None],
    started: Callable[[], None] = lambda: None,
    recovery: Recovery = NO_RECOVERY,
) -> bool:
    """Run the job until it has caught up, or until Ctrl-C; return whether it was left to end by itself."""
    stop = Stop()
    stop.listen()
    prepare_topics(settings, create_topics)
    config = job_config(settings, recovery)
    spark = session_of(settings)
    stop.listen()
    try:
        with beside(spark, settings, report, started) as (reported, ready):
            work.run(spark, config, lambda: topic_now(settings), reported, stop, ready)
    finally:
        spark.stop()
    return not stop()


Report = Callable[[work.Progress], None]


@contextmanager
def beside(
    spark: SparkSession, settings: Settings, report: Report, started: Callable[[], None]
) -> Iterator[tuple[Report, Callable[[], None]]]:
    """What is to be called when a batch is finished and when the job has started, so that others work beside it."""
    with ExitStack() as stack:
        watches = [stack.enter_context(watch) for watch in watches_of(spark, settings)]

        def reported(batch: work.Progress) -> None:
            for watch in watches:
                watch.count(batch)
            report(batch)

        def ready() -> None:
            for watch in watches:
                watch.start()
            started()

        yield reported, ready


def watches_of(spark: SparkSession, settings: Settings) -> Iterator[Watch]:
    """Suites and maintenance, as often as the settings say; none beside a job that ends when it has caught up."""
    if settings.trigger == AVAILABLE_NOW:
        return
    if settings.quality_trigger:
        from lineproof.local.quality_task import QualityWatch  # needs Great Expectations, which not everyone has

        yield QualityWatch(spark, settings)
    if any(settings.maintenance_seconds.values()):
        yield MaintenanceWatch(spark, settings)


def session_of(settings: Settings) -> SparkSession:
    """The session that `spark-submit` chose, or one on this machine, logging to the job's log."""
    if was_submitted():
        return session(settings.spark, jars=(), java_options=())
    os.environ["JAVA_HOME"] = str(find_java().resolve().parents[1])
    log = job_log(settings).absolute()
    log.parent.mkdir(parents=True, exist_ok=True)
    options = {"spark.sql.warehouse.dir": str(log.parent), **settings.spark}
    with _jvm_output_to(log):
        return session(options, jars.spark_jars(), log_options(log))


def job_config(settings: Settings, recovery: Recovery = NO_RECOVERY) -> JobConfig:
    """What the job has to know of the settings, and of the schema registry if there is one."""
    registry = registry_of(settings)

    def target(topic: str, schema_name: str) -> Target:
        schema = newest(schema_name)
        return Target(topic, schema.header(registry.id_of(topic, schema) if registry else None))

    return JobConfig(
        kafka=spark_options(client_options(settings)),
        topic=settings.topics.events,
        dead_letter_topic=settings.topics.dead_letters,
        tables=settings.tables_path,
        checkpoints=settings.checkpoints_path,
        trigger=settings.spark_trigger,
        graph_trigger=settings.spark_graph_trigger,
        max_offsets_per_trigger=settings.max_offsets_per_trigger,
        schema_ids=schema_ids_of(settings),
        published={what: target(topic, SCHEMAS[what]) for what, topic in published_topics(settings).items()},
        accept_loss=recovery.accept_loss,
        restore_checkpoint=recovery.restore_checkpoint,
    )


def schema_ids_of(settings: Settings) -> dict[int, int]:
    """The envelope's version by schema id: as the registry says, if there is one, and as was named by hand."""
    registry = registry_of(settings)
    registered = registry.envelope_ids(settings.topics.events) if registry else {}
    return {**registered, **settings.schema_ids}


def topic_now(settings: Settings) -> Topic:
    """The events topic as the broker has it."""
    kafka, name = Kafka(client_options(settings)), settings.topics.events
    kafka.require_topics(name)
    return Topic(name, kafka.topic_id(name), kafka.offsets(name))


def prepare_topics(settings: Settings, create: bool) -> None:
    """Make sure that the topics are there."""
    kafka = Kafka(client_options(settings))
    names = [name for name in (settings.topics.events, settings.topics.dead_letters) if name]
    published = [*published_topics(settings).values()]
    if create:
        size = settings.topics.partitions, settings.topics.replication_factor
        kafka.create_topics(names, *size)
        kafka.create_topics(published, *size, compacted=True)
    kafka.require_topics(*names, *published)


def published_topics(settings: Settings) -> dict[str, str]:
    """What is published for subscribers, and where."""
    topics = {what: str(getattr(settings.topics, what)) for what in SCHEMAS}
    return {what: topic for what, topic in topics.items() if topic}


def job_log(settings: Settings) -> Path:
    """Where Spark logs to."""
    return settings.home / "logs" / "job.log"


@contextmanager
def _jvm_output_to(log: Path) -> Iterator[None]:
    """Give a JVM that starts meanwhile the log as its stdout and stderr: our own are for people and data."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            for descriptor in kept:
                os.close(descriptor)
