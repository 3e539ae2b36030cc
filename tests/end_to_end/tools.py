"""Helpers of the end-to-end tests."""

import os
import socket
import subprocess
import sys
import uuid
from typing import Any, Protocol

from confluent_kafka import Consumer
from pyspark.sql import SparkSession

from lineproof.local.job_config import NO_RECOVERY, Recovery, job_config
from lineproof.local.job_topics import describe_topics
from lineproof.producers.chain import Chain
from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.datasets import input_dataset, output_dataset
from lineproof.producers.emitter import Emitter
from lineproof.producers.pipelines.noise import Sent, noise
from lineproof.producers.transports.memory import MemoryTransport
from lineproof.schemas.headers import REPLAYED_FROM
from lineproof.schemas.tables import DERIVED
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.ingest import Ingest
from lineproof.streaming.run import Progress
from lineproof.topics.cluster import KafkaCluster


class RunJob(Protocol):
    """Runs the job until it has caught up, and returns its batches."""

    def __call__(self, settings: Settings, recovery: Recovery = ...) -> list[Progress]: ...


def lineproof(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in its own process."""
    return subprocess.run(
        [sys.executable, "-m", "lineproof", *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **environment},
    )


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def publish(settings: Settings, runs: int = 100) -> Sent:
    """Send complete runs, some of their events twice, and the demo's faulty records to the topic."""
    captured = MemoryTransport()
    chain = Chain(settings.home / "certificates.jsonl")
    emitter = Emitter(captured, "tests", chain=chain)
    for number in range(runs):
        source = input_dataset(DatasetName("db", f"source-{number % 5}"), schema={"id": "bigint"})
        with emitter.run(f"job-{number % 5}", inputs=[source]) as run:
            run.progress(percent=50)
            if number % 10 == 0:
                run.certify(source_state_hash="s", target_state_hash="t", contract_version="1", invariants={"ok": True})
            run.ledger.book(read=number, processed=number - number // 10, filtered=number // 10)
            run.add_output(output_dataset(DatasetName("db", "target"), schema={"id": "bigint"}, row_count=number))
    added = noise()
    events, resent = captured.records + added.events, captured.records[::7]
    KafkaCluster(settings.kafka).send(settings.topics.events, [*events, *resent, *added.broken])
    return Sent(len(events), len(resent), len(added.broken))


def archive_topics(spark: SparkSession, settings: Settings, recovery: Recovery = NO_RECOVERY) -> int:
    """Run ingest alone until it has caught up; returns how many records it archived."""
    ingest = Ingest(spark, job_config(settings, recovery).ingest)
    ingest.prepare()
    ingest.check_topics(describe_topics(settings), recovery.accept_loss)
    query = ingest.start()
    query.awaitTermination()
    return sum(batch.numInputRows for batch in query.recentProgress)


def consumed(settings: Settings, topic: str, count: int) -> list[Any]:
    """Read the first `count` records of a topic, and wait until they are there."""
    consumer = Consumer({**settings.kafka, "group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    messages: list[Any] = []
    while len(messages) < count:
        batch = consumer.consume(count - len(messages), timeout=20)
        assert batch, f"{len(messages)} of {count} records arrived"
        messages += batch
    consumer.close()
    return messages


def replayed(settings: Settings, topic: str) -> list[Any]:
    """All records that a replay wrote to a topic."""
    offsets = KafkaCluster(settings.kafka).offsets(topic)
    return consumed(settings, topic, sum(end - begin for begin, end in offsets.values()))


def source_of(message: Any) -> str:
    """The coordinates of the archived record that a replayed record is a copy of."""
    [source] = [value.decode() for name, value in message.headers() if name == REPLAYED_FROM]
    return str(source)


def snapshot(settings: Settings) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of all derived tables, sorted."""
    return {table.name: rows(settings, table.name) for table in DERIVED}


def rows(settings: Settings, table: str) -> list[tuple[Any, ...]]:
    """The rows of a table, sorted."""
    return sorted(Tables(settings.tables_path).query(f"SELECT * FROM {table}").rows, key=repr)


def assert_archive_is_topic(settings: Settings) -> None:
    """The archive has every record of the topic once, byte for byte."""
    archived = Tables(settings.tables_path).query('SELECT partition, "offset", key, value FROM archive').rows
    topic = settings.topics.events
    count = sum(end - begin for begin, end in KafkaCluster(settings.kafka).offsets(topic).values())
    in_topic = [(m.partition(), m.offset(), m.key(), m.value()) for m in consumed(settings, topic, count)]
    assert sorted(archived, key=repr) == sorted(in_topic, key=repr)
