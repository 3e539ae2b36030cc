"""Find offsets that the archive does not have, by comparing it with the topic, partition by partition.

Not every offset is a record: the marker at the end of a transaction takes an offset, and compaction removes records. So
a gap in the archive is looked up in the topic, as long as the topic still has that range.
"""

import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from confluent_kafka import Consumer, KafkaError, TopicPartition

from lineproof.schemas.archive_names import newest_name
from lineproof.serving.sql import Tables
from lineproof.topics.cluster import KafkaCluster, KafkaUnavailable

_ENDS = "SELECT topic, partition, max(archive.offset) + 1 FROM archive GROUP BY topic, partition"
_GAPS = "SELECT topic, partition, first_missing, last_missing FROM archive_gaps ORDER BY ALL"


class GapKind(Enum):
    """What is known about offsets that the archive does not have. The values are what the command prints."""

    WAITING = "not archived yet"
    MISSING = "MISSING: the topic has these records"
    NOTHING = "no records: transaction markers, or compacted away"
    GONE = "UNKNOWN: the topic no longer has this range; records expired before they were archived, or never existed"
    OTHER_TOPIC = "UNKNOWN: the topic ends before the archive; it was recreated, or lost its end"

    @property
    def may_be_loss(self) -> bool:
        """Whether records are lost, or may be."""
        return self in (GapKind.MISSING, GapKind.GONE, GapKind.OTHER_TOPIC)


@dataclass(frozen=True)
class Gap:
    """Offsets that the archive does not have, from first to last."""

    topic: str
    partition: int
    first: int
    last: int
    offsets: int
    """How many offsets are affected: those of records, where the topic still has them."""
    kind: GapKind


def find_gaps(tables: Tables, topic: str, cluster: KafkaCluster, options: Mapping[str, str]) -> Iterator[Gap]:
    """All gaps in the archive, and the offsets after its end, each with what is known about it."""
    ends: dict[str, dict[int, int]] = {}
    for name, partition, end in tables.query(_ENDS).rows:
        ends.setdefault(name, {})[partition] = end
    newest = newest_name(topic, ends)
    in_topic = cluster.offsets(topic)
    archived = ends.get(newest, {})
    was_recreated = any(end > in_topic[partition][1] for partition, end in archived.items() if partition in in_topic)
    for name, partition, first, last in tables.query(_GAPS).rows:
        bounds = in_topic.get(partition) if name == newest and not was_recreated else None
        gap = Gap(name, partition, first, last, last - first + 1, GapKind.GONE)
        yield from _looked_up(gap, bounds, topic, options)
    yield from _after_the_archive(newest, archived, in_topic)


def _after_the_archive(
    name: str, archived: Mapping[int, int], in_topic: Mapping[int, tuple[int, int]]
) -> Iterator[Gap]:
    """Offsets after the last archived record of each partition."""
    for partition, (begin, end) in sorted(in_topic.items()):
        reached = archived.get(partition, 0)
        if reached > end:
            yield Gap(name, partition, end, reached - 1, reached - end, GapKind.OTHER_TOPIC)
            continue
        if reached < begin:
            yield Gap(name, partition, reached, begin - 1, begin - reached, GapKind.GONE)
        if end > (waiting := max(begin, reached)):
            yield Gap(name, partition, waiting, end - 1, end - waiting, GapKind.WAITING)


def _looked_up(gap: Gap, bounds: tuple[int, int] | None, topic: str, options: Mapping[str, str]) -> Iterator[Gap]:
    """A gap in the archive, split: the offsets that the topic no longer has, and the rest, looked up in the topic."""
    begin = min(max(gap.first, bounds[0]), gap.last + 1) if bounds else gap.last + 1
    if begin > gap.first:
        yield Gap(gap.topic, gap.partition, gap.first, begin - 1, begin - gap.first, GapKind.GONE)
    if begin <= gap.last:
        found = records_between(topic, gap.partition, begin, gap.last, options)
        kind = GapKind.MISSING if found else GapKind.NOTHING
        yield Gap(gap.topic, gap.partition, begin, gap.last, found or gap.last - begin + 1, kind)


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
    found, why, deadline = 0, "no record was delivered in time", time.monotonic() + timeout_s
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
