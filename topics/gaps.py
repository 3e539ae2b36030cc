"""Whether the archive is complete: its offsets, partition by partition, against those of the topic.

Not every offset is a record: the mark at the end of a transaction takes one, and a compacted topic forgets some. So the
topic is asked what lies in a hole, as long as it has that range.
"""

import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from confluent_kafka import Consumer, KafkaError, TopicPartition

from lineproof.serving.sql import Tables
from lineproof.streaming.recovery.topic import Ranges, newest_name
from lineproof.topics.cluster import Kafka, KafkaUnavailable

_ENDS = "SELECT topic, partition, max(archive.offset) + 1 FROM archive GROUP BY topic, partition"
_HOLES = "SELECT topic, partition, first_missing, last_missing FROM archive_gaps ORDER BY ALL"


class Kind(Enum):
    """What is known of offsets that the archive does not have."""

    WAITING = "not archived yet"
    MISSING = "MISSING: the topic has these records"
    NOTHING = "no records: marks of transactions, or compacted away"
    GONE = "UNKNOWN: the topic no longer has this range; expired before it was archived, or never records"
    OTHER_TOPIC = "UNKNOWN: the topic ends before the archive; it was made anew, or lost its end"

    @property
    def is_hole(self) -> bool:
        """Whether records are lost, or may be."""
        return self in (Kind.MISSING, Kind.GONE, Kind.OTHER_TOPIC)


@dataclass(frozen=True)
class Gap:
    """Offsets that the archive does not have, from first to last."""

    topic: str
    partition: int
    first: int
    last: int
    offsets: int
    """How many of them it is about."""
    kind: Kind


def find_gaps(tables: Tables, topic: str, kafka: Kafka, options: Mapping[str, str]) -> Iterator[Gap]:
    """All of them, with what is known of each."""
    ends: dict[str, dict[int, int]] = {}
    for name, partition, end in tables.query(_ENDS).rows:
        ends.setdefault(name, {})[partition] = end
    newest = newest_name(topic, ends)
    on_topic = kafka.offsets(topic)
    is_another = any(end > on_topic[one][1] for one, end in ends.get(newest, {}).items() if one in on_topic)
    for name, partition, first, last in tables.query(_HOLES).rows:
        there = on_topic.get(partition) if name == newest and not is_another else None
        yield from _explained(Gap(name, partition, first, last, last - first + 1, Kind.GONE), there, topic, options)
    yield from _beyond(newest, ends.get(newest, {}), on_topic)


def _beyond(name: str, archived: Mapping[int, int], on_topic: Ranges) -> Iterator[Gap]:
    """Behind the last archived record."""
    for partition, (begin, end) in sorted(on_topic.items()):
        reached = archived.get(partition, 0)
        if reached > end:
            yield Gap(name, partition, end, reached - 1, reached - end, Kind.OTHER_TOPIC)
            continue
        if reached < begin:
            yield Gap(name, partition, reached, begin - 1, begin - reached, Kind.GONE)
        if end > (waiting := max(begin, reached)):
            yield Gap(name, partition, waiting, end - 1, end - waiting, Kind.WAITING)


def _explained(hole: Gap, there: tuple[int, int] | None, topic: str, options: Mapping[str, str]) -> Iterator[Gap]:
    """A hole of the archive, in parts: what the topic has forgotten, and what it says of the rest."""
    begin = min(max(hole.first, there[0]), hole.last + 1) if there else hole.last + 1
    if begin > hole.first:
        yield Gap(hole.topic, hole.partition, hole.first, begin - 1, begin - hole.first, Kind.GONE)
    if begin <= hole.last:
        found = records_between(topic, hole.partition, begin, hole.last, options)
        kind = Kind.MISSING if found else Kind.NOTHING
        yield Gap(hole.topic, hole.partition, begin, hole.last, found or hole.last - begin + 1, kind)


def records_between(
    topic: str, partition: int, first: int, last: int, options: Mapping[str, str], timeout_s: float = 30
) -> int:
    """How many records a topic has between two offsets."""
    consumer = Consumer(
        {
            **options,
            "group.id": f"lineproof-gaps-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_uncommitted",  # as the job reads
            "log_level": 0,
        }
    )
    found, why, deadline = 0, "none came in time", time.monotonic() + timeout_s
    try:
        consumer.assign([TopicPartition(topic, partition, first)])
        while time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is None:
                continue
            error = message.error()
            if error and error.code() != KafkaError._PARTITION_EOF:
                why = error.str()
                break
            if error or int(message.offset() or 0) > last:
                return found
            found += 1
            deadline = time.monotonic() + timeout_s
    finally:
        consumer.close()
    raise KafkaUnavailable(
        f"The records of {topic}-{partition} cannot be read: {why}.", "Check the broker, and grant READ on the topic."
    )
