"""Find offsets that the archive does not have, by comparing it with the topic, partition by partition.

Not every offset is a record: the marker at the end of a transaction takes an offset, and compaction removes records. So
a gap in the archive is looked up in the topic, as long as the topic still has that range.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

from lineproof.schemas.archive_names import newest_name
from lineproof.schemas.record import TopicRecord
from lineproof.serving.sql import Tables
from lineproof.topics.cluster import KafkaCluster
from lineproof.topics.records import read_records

_ENDS = "SELECT topic, partition, max(archive.offset) + 1 FROM archive GROUP BY topic, partition"
_GAPS = """
SELECT topic, partition, previous + 1, present - 1
FROM (
    SELECT
        topic,
        partition,
        archive.offset AS present,
        lag(archive.offset, 1, -1) OVER (PARTITION BY topic, partition ORDER BY archive.offset) AS previous
    FROM archive
)
WHERE present > previous + 1
ORDER BY ALL
"""


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


def find_gaps(
    tables: Tables, topics: Sequence[str], cluster: KafkaCluster, options: Mapping[str, str], isolation_level: str
) -> Iterator[Gap]:
    """All gaps in the archive, and the offsets after its end, each with what is known about it."""
    ends: dict[str, dict[int, int]] = {}
    for name, partition, end in tables.query(_ENDS).rows:
        ends.setdefault(name, {})[partition] = end
    current = {newest_name(topic, ends): (topic, cluster.offsets(topic)) for topic in topics}
    for name, partition, first, last in tables.query(_GAPS).rows:
        topic, in_topic = current.get(name, (name, {}))
        bounds = None if _was_recreated(ends[name], in_topic) else in_topic.get(partition)
        gap = Gap(name, partition, first, last, last - first + 1, GapKind.GONE)
        yield from _looked_up(gap, bounds, partial(read_records, options, topic, isolation_level=isolation_level))
    for name, (_, in_topic) in current.items():
        yield from _after_the_archive(name, ends.get(name, {}), in_topic)


def _was_recreated(archived: Mapping[int, int], in_topic: Mapping[int, tuple[int, int]]) -> bool:
    return any(end > in_topic[partition][1] for partition, end in archived.items() if partition in in_topic)


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


def _looked_up(
    gap: Gap, bounds: tuple[int, int] | None, read: Callable[[int, int, int], Iterator[TopicRecord]]
) -> Iterator[Gap]:
    """A gap in the archive, split: the offsets that the topic no longer has, and the rest, looked up in the topic."""
    begin = min(max(gap.first, bounds[0]), gap.last + 1) if bounds else gap.last + 1
    if begin > gap.first:
        yield Gap(gap.topic, gap.partition, gap.first, begin - 1, begin - gap.first, GapKind.GONE)
    if begin <= gap.last:
        found = sum(1 for _ in read(gap.partition, begin, gap.last + 1))
        kind = GapKind.MISSING if found else GapKind.NOTHING
        yield Gap(gap.topic, gap.partition, begin, gap.last, found or gap.last - begin + 1, kind)
