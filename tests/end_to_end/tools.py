"""What several integration tests need."""

import os
import subprocess
import sys
import uuid
from typing import Any, Protocol

from confluent_kafka import Consumer

from lineproof.local.job_config import Recovery
from lineproof.producers.chain import Chain
from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.datasets import input_dataset, output_dataset
from lineproof.producers.emitter import Emitter
from lineproof.producers.pipelines.noise import Sent, noise
from lineproof.producers.transports.memory import MemoryTransport
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.job import DERIVED
from lineproof.streaming.run import Progress
from lineproof.topics.cluster import Kafka
from lineproof.topics.replay import REPLAYED_FROM

# To compile queries takes longer than to run them over a test's little data.
SHORT_LIVED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}

# So does to compile the JVM's code to the utmost, and to verify classes that come from the same JARs each time.
SHORT_LIVED_JVM = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)


class RunJob(Protocol):
    """Runs the job until it has caught up, and returns its batches."""

    def __call__(self, settings: Settings, recovery: Recovery = ...) -> list[Progress]: ...


def lineproof(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line, as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "lineproof", *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **environment},
    )


def publish(settings: Settings, runs: int = 100) -> Sent:
    """Put good runs, some of their events again, and the demo's noise on the topic."""
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
    Kafka(settings.kafka).send(settings.topics.events, [*events, *resent, *added.broken])
    return Sent(len(events), len(resent), len(added.broken))


def consumed(settings: Settings, topic: str, count: int) -> list[Any]:
    """The first records of a topic, waiting for all of them."""
    consumer = Consumer({**settings.kafka, "group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    messages: list[Any] = []
    while len(messages) < count:
        batch = consumer.consume(count - len(messages), timeout=20)
        assert batch, f"{len(messages)} of {count} records came"
        messages += batch
    consumer.close()
    return messages


def replayed(settings: Settings, topic: str) -> list[Any]:
    """All that is on a topic."""
    return consumed(settings, topic, sum(end - begin for begin, end in Kafka(settings.kafka).offsets(topic).values()))


def source_of(message: Any) -> str:
    """The archived record that a replayed one is a copy of."""
    [source] = [value.decode() for name, value in message.headers() if name == REPLAYED_FROM]
    return str(source)


def snapshot(settings: Settings) -> dict[str, list[tuple[Any, ...]]]:
    """The curated tables, in an order of their own."""
    return {module.TABLE.name: rows(settings, module.TABLE.name) for module in DERIVED}


def rows(settings: Settings, table: str) -> list[tuple[Any, ...]]:
    """All of a table, in an order of its own."""
    return sorted(Tables(settings.tables_path).query(f"SELECT * FROM {table}").rows, key=repr)


def assert_archive_is_topic(settings: Settings) -> None:
    """Byte for byte, and nothing twice."""
    archived = Tables(settings.tables_path).query('SELECT partition, "offset", key, value FROM archive').rows
    topic = settings.topics.events
    count = sum(end - begin for begin, end in Kafka(settings.kafka).offsets(topic).values())
    in_topic = [(m.partition(), m.offset(), m.key(), m.value()) for m in consumed(settings, topic, count)]
    assert sorted(archived, key=repr) == sorted(in_topic, key=repr)
