"""What all benchmarks of one run share: a broker, a Spark session and a directory."""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lineproof.local.broker import Broker
from lineproof.local.endpoints import client_options
from lineproof.local.job_config import job_config
from lineproof.local.job_topics import describe_topics
from lineproof.local.spark_session import spark_session, stop_session
from lineproof.schemas.durations import AVAILABLE_NOW
from lineproof.schemas.record import Record
from lineproof.settings import Settings
from lineproof.streaming.config import JobConfig
from lineproof.streaming.job import Job
from lineproof.topics.cluster import KafkaCluster

PARTITIONS = 4


@dataclass(frozen=True)
class Environment:
    """The broker, session and directory of a run. `log` tells the user what is going on."""

    spark: SparkSession
    settings: Settings
    directory: Path
    events: int
    log: Callable[[str], None]

    def create_topic(self, topic: str, records: Iterable[Record]) -> str:
        """Create a topic with these records, and return its name."""
        self.log(f"Filling the topic {topic}")
        self._kafka().create_topics([topic], PARTITIONS, 1)
        self.send(topic, records)
        return topic

    def send(self, topic: str, records: Iterable[Record]) -> None:
        """Send records to an existing topic."""
        self._kafka().send(topic, records)

    def _kafka(self) -> KafkaCluster:
        return KafkaCluster({**client_options(self.settings), "compression.type": "zstd", "linger.ms": "50"})

    def _settings_for(self, topic: str) -> Settings:
        unpublished = dict.fromkeys(("dead_letters", "runs", "violations", "quality"), "")
        topics = self.settings.topics.model_copy(update={"events": topic, **unpublished})
        return self.settings.model_copy(update={"topics": topics})

    def config(self, topic: str, tables: str, trigger: str = AVAILABLE_NOW) -> JobConfig:
        """The configuration of a job that reads this topic and writes into the directory `tables`."""
        places = {
            "tables": str(self.directory / tables),
            "checkpoints": str(self.directory / f"{tables}.checkpoints"),
        }
        return job_config(self._settings_for(topic).model_copy(update={"trigger": trigger, **places}))

    def job(self, config: JobConfig) -> Job:
        """A job whose tables exist."""
        job = Job(self.spark, config)
        job.prepare()
        job.ingest.check_topics(describe_topics(self._settings_for(config.ingest.topics.first)))
        return job

    def memory_mb(self) -> float:
        """The resident size of the JVM: heap and off-heap memory."""
        process = self.spark._jvm.java.lang.ProcessHandle.current()  # type: ignore[union-attr]
        return float(psutil.Process(process.pid()).memory_info().rss) / 2**20

    def delete(self, tables: str) -> None:
        """Delete tables and their checkpoints, to free disk space."""
        for name in (tables, f"{tables}.checkpoints"):
            shutil.rmtree(self.directory / name, ignore_errors=True)


def time_query(start: Callable[[], StreamingQuery]) -> float:
    """The seconds that a query takes from its start until it has caught up."""
    began = time.perf_counter()
    start().awaitTermination()
    return time.perf_counter() - began


@contextmanager
def benchmark_environment(settings: Settings, events: int, log: Callable[[str], None]) -> Iterator[Environment]:
    """Use the broker and cluster of the settings; without them, start a broker and a local session."""
    directory = Path(settings.home).absolute() / f"bench-{os.getpid()}"
    directory.mkdir(parents=True)
    broker = None
    try:
        if not settings.kafka.get("bootstrap.servers"):
            log("Starting a broker")
            broker = Broker(directory / "broker")
            settings = settings.model_copy(update={"kafka": {"bootstrap.servers": broker.start()}})
        log("Starting Spark")
        spark = spark_session(settings)
        try:
            yield Environment(spark, settings, directory, events, log)
        finally:
            stop_session(spark)
    finally:
        if broker:
            broker.stop()
        shutil.rmtree(directory, ignore_errors=True)
