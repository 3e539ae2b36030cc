"""Read a range of offsets of one partition, without moving the offsets of any consumer group."""

import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from confluent_kafka import TIMESTAMP_CREATE_TIME, Consumer, KafkaError, TopicPartition

from lineproof.schemas.record import TopicRecord
from lineproof.topics.cluster import KafkaUnavailable

TIMEOUT_S = 30
"""How long a broker may send nothing, although it has more records."""


def read_records(
    options: Mapping[str, str], topic: str, partition: int, first: int, end: int, isolation_level: str
) -> Iterator[TopicRecord]:
    """The records from offset `first` to before offset `end`. Not every offset has one."""
    own = {
        "group.id": f"lineproof-{uuid.uuid4()}",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": isolation_level,
        "log_level": 0,
    }
    consumer = Consumer({**options, **own})
    why, deadline = "no record was delivered in time", time.monotonic() + TIMEOUT_S
    try:
        consumer.assign([TopicPartition(topic, partition, first)])
        while first < end and time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is None:
                continue
            error = message.error()
            if error and error.code() != KafkaError._PARTITION_EOF:
                why = error.str()
                break
            if error or int(message.offset() or 0) >= end:
                return
            yield _record(message)
            if int(message.offset() or 0) == end - 1:
                return
            deadline = time.monotonic() + TIMEOUT_S
    finally:
        consumer.close()
    if first < end:
        raise KafkaUnavailable(
            f"The records of {topic}-{partition} cannot be read: {why}.",
            "Check the broker, and grant READ on the topic.",
        )


def _record(message: Any) -> TopicRecord:
    kind, milliseconds = message.timestamp()
    return TopicRecord(
        offset=message.offset(),
        timestamp_ms=milliseconds,
        timestamp_type=0 if kind == TIMESTAMP_CREATE_TIME else 1,
        key=message.key(),
        headers=message.headers() or (),
        value=message.value(),
    )
