"""Where benchmarks take place: a broker, a Spark session and a directory, for one run of them."""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lineproof.bench.generate import Record
from lineproof.local.broker import Broker
from lineproof.local.endpoints import client_options
from lineproof.local.job_runner import job_config, session_of, topic_now
from lineproof.settings import Settings
from lineproof.streaming.job import AVAILABLE_NOW, Job, JobConfig
from lineproof.topics.cluster import Kafka

PARTITIONS = 4


@dataclass(frozen=True)
class World:
    """A place to measure in. `say` tells the user what is going on."""

    spark: SparkSession
    settings: Settings
    directory: Path
    events: int
    say: Callable[[str], None]

    def fill(self, topic: str, records: Iterable[Record]) -> str:
        """Put records on a new topic."""
        self.say(f"Filling the topic {topic}")
        self._kafka().create_topics([topic], PARTITIONS, 1)
        self.add(topic, records)
        return topic

    def add(self, topic: str, records: Iterable[Record]) -> None:
        """Put records on a topic that is there."""
        self._kafka().send(topic, records)

    def _kafka(self) -> Kafka:
        return Kafka({**client_options(self.settings), "compression.type": "zstd", "linger.ms": "50"})

    def _over(self, topic: str) -> Settings:
        nowhere = dict.fromkeys(("dead_letters", "runs", "violations", "quality"), "")
        topics = self.settings.topics.model_copy(update={"events": topic, **nowhere})
        return self.settings.model_copy(update={"topics": topics})

    def config(self, topic: str, tables: str, trigger: str = AVAILABLE_NOW) -> JobConfig:
        """The job's, over one topic, into tables of this name."""
        return replace(
            job_config(self._over(topic).model_copy(update={"trigger": trigger})),
            tables=str(self.directory / tables),
            checkpoints=str(self.directory / f"{tables}.checkpoints"),
        )

    def job(self, config: JobConfig) -> Job:
        """The job with its tables made."""
        job = Job(self.spark, config)
        job.prepare()
        job.settle_topic(topic_now(self._over(config.topic)))
        return job

    def memory_mb(self) -> float:
        """The size of the JVM now: its heap, and what it keeps beside it."""
        process = self.spark._jvm.java.lang.ProcessHandle.current()  # type: ignore[union-attr]
        return float(psutil.Process(process.pid()).memory_info().rss) / 2**20

    def remove(self, tables: str) -> None:
        """Give the disk back."""
        for name in (tables, f"{tables}.checkpoints"):
            shutil.rmtree(self.directory / name, ignore_errors=True)


def seconds_of(start: Callable[[], StreamingQuery]) -> float:
    """How long a query takes from its start until it has caught up."""
    began = time.perf_counter()
    start().awaitTermination()
    return time.perf_counter() - began


@contextmanager
def world(settings: Settings, events: int, say: Callable[[str], None]) -> Iterator[World]:
    """The user's broker and cluster where the settings name them, else ones of its own."""
    directory = Path(settings.home).absolute() / f"bench-{os.getpid()}"
    directory.mkdir(parents=True)
    broker = None
    try:
        if not settings.kafka.get("bootstrap.servers"):
            say("Starting a broker")
            broker = Broker(directory / "broker")
            settings = settings.model_copy(update={"kafka": {"bootstrap.servers": broker.start()}})
        say("Starting Spark")
        spark = session_of(settings)
        try:
            yield World(spark, settings, directory, events, say)
        finally:
            spark.stop()
    finally:
        if broker:
            broker.stop()
        shutil.rmtree(directory, ignore_errors=True)
