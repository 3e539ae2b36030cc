"""Read and decode the records of a topic, without moving the offsets of any consumer group."""

import heapq
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition

from lineproof.schemas.avro import (
    CONFLUENT_HEADER_BYTES,
    NAMES,
    SINGLE_OBJECT_HEADER_BYTES,
    Schema,
    confluent_schema_id,
    released,
)
from lineproof.schemas.envelope import JSON_MARKER
from lineproof.schemas.errors import LineproofError, suggest
from lineproof.schemas.reasons import Reason
from lineproof.topics.cluster import KafkaCluster, KafkaUnavailable

MESSAGES_PER_POLL = 500
TIMEOUT_S = 30
"""How long a broker may send nothing, although it has more records."""
_POLL_S = 0.2

_BY_HEADER = {schema.header(): schema for name in NAMES for schema in released(name).values()}


class TopicNotFound(LineproofError):
    """The topic does not exist, or nothing is published to it."""

    exit_code = 2


@dataclass(frozen=True)
class DecodedRecord:
    """A record of a topic. If its value cannot be decoded, `record` has the bytes and `undecoded` says why."""

    partition: int
    offset: int
    timestamp: datetime | None
    key: str | None
    headers: dict[str, str]
    schema: str | None
    record: Any
    undecoded: str | None

    def document(self) -> dict[str, Any]:
        """The record for JSON output, without empty fields."""
        return {name: value for name, value in vars(self).items() if value is not None and value != {}}


def topic_named(name: str, configured: Mapping[str, str]) -> str:
    """The topic for a name of the settings, such as `dead-letters`; any other name is the topic's own."""
    field = name.replace("-", "_")
    topic = configured.get(field, name)
    if not topic:
        raise TopicNotFound(f"topics.{field} is empty: nothing is published.", "Set it to a topic, and start the job.")
    return topic


def tail(
    options: Mapping[str, str],
    topic: str,
    schema_ids: Mapping[int, Schema],
    *,
    last: int | None,
    follow: bool,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Iterator[DecodedRecord]:
    """The last records of a topic (all, if `last` is None); then, with `follow`, new records until `is_stopping`."""
    cluster = KafkaCluster(options)
    existing = cluster.topics()
    if topic not in existing:
        ours = [name for name in existing if not name.startswith("__")]
        raise TopicNotFound(
            f"The broker at {options['bootstrap.servers']} has no topic {topic}.",
            f"{suggest(topic, ours)} `lineproof job --create-topics` creates the configured topics.",
        )
    bounds = cluster.offsets(topic)
    own = {"group.id": "lineproof-tail", "enable.auto.commit": False, "enable.partition.eof": True, "log_level": 0}
    consumer = Consumer({**options, **own})
    try:
        begins = {
            partition: first if last is None else max(first, end - last) for partition, (first, end) in bounds.items()
        }
        consumer.assign([TopicPartition(topic, partition, begin) for partition, begin in begins.items()])
        ends = {partition: end for partition, (_, end) in bounds.items() if begins[partition] < end}
        records = (_decoded_record(message, schema_ids) for message in _read_until(consumer, ends))
        yield from records if last is None else reversed(heapq.nlargest(last, records, key=_by_time))
        while follow and not is_stopping():
            for message in _consume(consumer):
                if not message.error():
                    yield _decoded_record(message, schema_ids)
    finally:
        consumer.close()


def _read_until(consumer: Consumer, ends: dict[int, int]) -> Iterator[Any]:
    """The messages before these offsets. After compaction there may be none."""
    deadline = time.monotonic() + TIMEOUT_S
    while ends:
        for message in _consume(consumer):
            deadline = time.monotonic() + TIMEOUT_S
            if not message.error():
                yield message
            if message.error() or message.offset() + 1 >= ends.get(message.partition(), 0):
                ends.pop(message.partition(), None)
        if time.monotonic() > deadline:
            raise KafkaUnavailable(f"The broker sent nothing for {TIMEOUT_S} s.", "Check that it runs.")


def _consume(consumer: Consumer) -> list[Any]:
    """The next messages. The end of a partition is a message with an error."""
    messages = consumer.consume(MESSAGES_PER_POLL, timeout=_POLL_S)
    for message in messages:
        error = message.error()
        if error and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaUnavailable(f"The topic cannot be read: {error.str()}.", "Check the `kafka` settings.")
    return list(messages)


def _by_time(record: DecodedRecord) -> tuple[datetime, int, int]:
    return record.timestamp or datetime.min.replace(tzinfo=timezone.utc), record.partition, record.offset


def _decoded_record(message: Any, schema_ids: Mapping[int, Schema]) -> DecodedRecord:
    _, milliseconds = message.timestamp()
    schema, record, undecoded = decode(message.value(), schema_ids)
    return DecodedRecord(
        partition=message.partition(),
        offset=message.offset(),
        timestamp=datetime.fromtimestamp(milliseconds / 1000, timezone.utc) if milliseconds > 0 else None,
        key=_text(message.key()),
        headers={name: _text(value) or "" for name, value in message.headers() or ()},
        schema=f"{schema.name} {schema.version}" if schema else None,
        record=record,
        undecoded=undecoded,
    )


def decode(value: bytes | None, schema_ids: Mapping[int, Schema]) -> tuple[Schema | None, Any, str | None]:
    """The schema and the record; or no schema, the bytes, and why they cannot be decoded.

    Only schemas that this release knows are used, never a schema that came with the record.
    """
    if not value:
        return None, None, Reason.EMPTY_VALUE.meaning
    if value.startswith(JSON_MARKER):
        return _as_json(value)
    schema_id = confluent_schema_id(value)
    if schema_id is None:
        schema, body = _BY_HEADER.get(value[:SINGLE_OBJECT_HEADER_BYTES]), value[SINGLE_OBJECT_HEADER_BYTES:]
    else:
        schema, body = schema_ids.get(schema_id), value[CONFLUENT_HEADER_BYTES:]
    if schema is None:
        reason = Reason.UNKNOWN_FRAMING if schema_id is None else Reason.UNKNOWN_SCHEMA_ID
        return None, value, reason.meaning
    try:
        record = schema.read(body)
    except (EOFError, ValueError, IndexError, TypeError, OverflowError, MemoryError):
        return None, value, Reason.AVRO_UNDECODABLE.meaning
    if "payload" in record:
        record["payload"] = _as_json(record["payload"])[1]
    return schema, record, None


def _as_json(value: bytes) -> tuple[None, Any, str | None]:
    try:
        return None, json.loads(value), None
    except (ValueError, RecursionError):
        return None, value, Reason.INVALID_JSON.meaning


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode(errors="backslashreplace")
