"""Records of any topic of ours, decoded, as they come."""

import heapq
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition

from lineproof.schemas.avro import (
    CONFLUENT_HEADER_BYTES,
    NAMES,
    SINGLE_OBJECT_HEADER_BYTES,
    Schema,
    released,
    schema_id_of,
)
from lineproof.schemas.envelope import JSON_MARKER
from lineproof.schemas.errors import LineproofError, suggest
from lineproof.schemas.reasons import Reason
from lineproof.settings import Settings
from lineproof.topics.cluster import Kafka, KafkaUnavailable

AT_A_TIME = 500
PATIENCE_S = 30
"""So long a broker may send nothing of what it is known to have."""
_POLL_S = 0.2

_BY_HEADER = {schema.header(): schema for name in NAMES for schema in released(name).values()}


class NoSuchTopic(LineproofError):
    """It is not there, or has no name."""

    exit_code = 2


@dataclass(frozen=True)
class Seen:
    """One record, decoded. What cannot be is left as bytes, and `undecoded` says why."""

    partition: int
    offset: int
    timestamp: datetime | None
    key: str | None
    headers: dict[str, str]
    schema: str | None
    record: Any
    undecoded: str | None

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {name: value for name, value in vars(self).items() if value is not None and value != {}}


def topic_named(name: str, settings: Settings) -> str:
    """The topic that a name stands for: what is published, in the settings' word for it, or any other by its own."""
    field = name.replace("-", "_")
    if field not in ("events", "dead_letters", "runs", "violations", "quality"):
        return name
    topic = str(getattr(settings.topics, field))
    if not topic:
        raise NoSuchTopic(f"topics.{field} is empty: nothing is published.", "Name a topic there, and start the job.")
    return topic


def tail(
    options: Mapping[str, str],
    topic: str,
    schema_ids: Mapping[int, Schema],
    *,
    last: int | None,
    follow: bool,
) -> Iterator[Seen]:
    """The last records of a topic (all, if `last` is None); then, if it is to be followed, what comes after them."""
    there = Kafka(options).topics()
    if topic not in there:
        ours = [name for name in there if not name.startswith("__")]
        raise NoSuchTopic(
            f"The broker at {options['bootstrap.servers']} has no topic {topic}.",
            f"{suggest(topic, ours)} `lineproof job --create-topics` creates those of the settings.",
        )
    ends = Kafka(options).offsets(topic)
    own = {"group.id": "lineproof-tail", "enable.auto.commit": False, "enable.partition.eof": True, "log_level": 0}
    consumer = Consumer({**options, **own})
    try:
        begins = {one: first if last is None else max(first, end - last) for one, (first, end) in ends.items()}
        consumer.assign([TopicPartition(topic, one, begin) for one, begin in begins.items()])
        to_come = _until(consumer, {one: end for one, (_, end) in ends.items() if begins[one] < end})
        seen = (_seen(message, schema_ids) for message in to_come)
        yield from seen if last is None else reversed(heapq.nlargest(last, seen, key=_in_time))
        while follow:
            for message in _consumed(consumer):
                if not message.error():
                    yield _seen(message, schema_ids)
    finally:
        consumer.close()


def _until(consumer: Consumer, ends: dict[int, int]) -> Iterator[Any]:
    """What there is up to these offsets, of which compaction may have left none."""
    deadline = time.monotonic() + PATIENCE_S
    while ends:
        for message in _consumed(consumer):
            deadline = time.monotonic() + PATIENCE_S
            if not message.error():
                yield message
            if message.error() or message.offset() + 1 >= ends.get(message.partition(), 0):
                ends.pop(message.partition(), None)
        if time.monotonic() > deadline:
            raise KafkaUnavailable(f"The broker sent nothing for {PATIENCE_S} s.", "Check that it runs.")


def _consumed(consumer: Consumer) -> list[Any]:
    """Records; and for each partition that has no more, what the client takes for an error."""
    messages = consumer.consume(AT_A_TIME, timeout=_POLL_S)
    for one in messages:
        error = one.error()
        if error and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaUnavailable(f"The topic cannot be read: {error.str()}.", "Check the `kafka` settings.")
    return list(messages)


def _in_time(one: Seen) -> tuple[datetime, int, int]:
    return one.timestamp or datetime.min.replace(tzinfo=timezone.utc), one.partition, one.offset


def _seen(message: Any, schema_ids: Mapping[int, Schema]) -> Seen:
    _, milliseconds = message.timestamp()
    schema, record, undecoded = decoded(message.value(), schema_ids)
    return Seen(
        partition=message.partition(),
        offset=message.offset(),
        timestamp=datetime.fromtimestamp(milliseconds / 1000, timezone.utc) if milliseconds > 0 else None,
        key=_text(message.key()),
        headers={name: _text(value) or "" for name, value in message.headers() or ()},
        schema=f"{schema.name} {schema.version}" if schema else None,
        record=record,
        undecoded=undecoded,
    )


def decoded(value: bytes | None, schema_ids: Mapping[int, Schema]) -> tuple[Schema | None, Any, str | None]:
    """The schema and the record; else the bytes, and why. Never with a schema that came with the record."""
    if not value:
        return None, None, Reason.EMPTY_VALUE.meaning
    if value.startswith(JSON_MARKER):
        return _as_json(value)
    schema_id = schema_id_of(value)
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
