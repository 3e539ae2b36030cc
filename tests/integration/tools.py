"""What several integration tests need."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer

from lineproof import sample_events
from lineproof.producers.publisher import KafkaPublisher
from lineproof.settings import Settings
from lineproof.sql import Tables
from lineproof.streaming.job import Progress

RunJob = Callable[[Settings], list[Progress]]


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


def publish(settings: Settings) -> sample_events.Sent:
    """Put the demo's events on the topic."""
    return sample_events.publish(KafkaPublisher(settings.kafka, settings.topics.events), lambda: None)


def consumed(settings: Settings, topic: str, count: int) -> list[Any]:
    """The first records of a topic, waiting for all of them."""
    consumer = Consumer({**settings.kafka, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    messages: list[Any] = []
    while len(messages) < count:
        batch = consumer.consume(count - len(messages), timeout=20)
        assert batch, f"{len(messages)} of {count} records came"
        messages += batch
    consumer.close()
    return messages


def snapshot(settings: Settings) -> dict[str, list[tuple[Any, ...]]]:
    """The curated tables, in an order of their own."""
    tables = Tables(settings.tables_path)
    return {
        name: sorted(tables.query(f"SELECT * FROM {name}").rows, key=repr)
        for name in ("runs", "lineage_events", "dead_letters")
    }
