"""What a forward reads: the archive, or the topics. Both give the records of one partition in their order."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from lineproof.schemas.topic_names import TopicNames
from lineproof.serving.archive import Archive, ArchivedRecord, ArchiveFilter, OffsetRange
from lineproof.serving.selection import Selection, in_partition
from lineproof.topics.cluster import KafkaCluster
from lineproof.topics.records import read_records

log = logging.getLogger(__name__)

RECORDS_PER_BATCH = 500
BYTES_PER_BATCH = 32 * 1024 * 1024

Positions = Mapping[str, int]
"""The last forwarded offset by partition. A partition is written as `TOPIC/PARTITION`, with the topic's id if it has
one, so that a recreated topic is read from its beginning.
"""


@dataclass(frozen=True)
class SourceBatch:
    """Records of one partition in their order, and its name in the positions."""

    partition: str
    records: list[ArchivedRecord]


class ForwardSource(Protocol):
    """Where records come from."""

    def count(self, positions: Positions) -> int:
        """How many records are waiting; with topics, about how many."""

    def batches(self, positions: Positions) -> Iterator[SourceBatch]:
        """The records that are waiting now. What comes later is in the next call."""


class ArchiveSource:
    """The table `archive`. Files that were read are not opened again."""

    def __init__(self, tables: str, home: Path, since: str | None) -> None:
        self._tables, self._home = tables, home
        self._condition = Selection(since=since).where()
        self._known: set[str] = set()

    def count(self, positions: Positions) -> int:
        """How many records are waiting."""
        archive = Archive(self._tables, self._home)
        return sum(offsets.records for offsets in archive.ranges(self._filter(positions)))

    def batches(self, positions: Positions) -> Iterator[SourceBatch]:
        """The records of the newest version of the table."""
        archive = Archive(self._tables, self._home)
        new = [file for file in archive.files if file.path not in self._known]
        if not new:
            return
        for offsets in archive.ranges(self._filter(positions), new):
            name = _partition(offsets)
            for records in archive.records(ArchiveFilter(self._condition), offsets, positions.get(name, -1)):
                yield SourceBatch(name, records)
        self._known = {file.path for file in archive.files}

    def _filter(self, positions: Positions) -> ArchiveFilter:
        """Records after the positions."""
        done = []
        for name, offset in positions.items():
            topic, partition = name.rsplit("/", 1)
            done.append(f"NOT ({in_partition(topic, int(partition), 0, offset)})")
        return ArchiveFilter(" AND ".join([self._condition, *done]))


class TopicSource:
    """The topics that the job reads."""

    def __init__(
        self, options: Mapping[str, str], topics: TopicNames, since: datetime | None, isolation_level: str
    ) -> None:
        self._options, self._topics, self._since = options, topics, since
        self._isolation_level = isolation_level
        self._cluster = KafkaCluster(options)
        self._read_to: dict[str, int] = {}

    def count(self, positions: Positions) -> int:
        """About how many records are waiting: not every offset has one."""
        return sum(end - first for *_, first, end in self._waiting(positions))

    def batches(self, positions: Positions) -> Iterator[SourceBatch]:
        """The records up to the present ends of the partitions."""
        for name, topic, partition, first, end in self._waiting(positions):
            found = read_records(self._options, topic, partition, first, end, self._isolation_level)
            records = (
                ArchivedRecord(topic, partition, record.offset, record.key, list(record.headers), record.value)
                for record in found
            )
            for batch in _batches(records):
                yield SourceBatch(name, batch)
            self._read_to[name] = end  # the last offsets may be those of transaction markers

    def _waiting(self, positions: Positions) -> Iterator[tuple[str, str, int, int, int]]:
        """Name, topic, partition, first offset and end of every partition with new records."""
        for topic in self._topics.matching(self._cluster.topics()):
            starts: dict[int, int] = {}
            topic_id = self._cluster.topic_id(topic)
            named = f"{topic}@{topic_id}" if topic_id else topic
            for partition, (begin, end) in sorted(self._cluster.offsets(topic).items()):
                name = f"{named}/{partition}"
                if name in positions:
                    first = positions[name] + 1
                    if first < begin:
                        log.warning(
                            "%d offsets of %s expired before they were forwarded. The archive may have their records.",
                            begin - first,
                            name,
                        )
                elif self._since:
                    starts = starts or self._cluster.offsets_at(topic, int(self._since.timestamp() * 1000))
                    first = starts.get(partition, end)
                else:
                    first = begin
                first = max(first, begin, self._read_to.get(name, 0))
                if first < end:
                    yield name, topic, partition, first, end


def _batches(records: Iterable[ArchivedRecord]) -> Iterator[list[ArchivedRecord]]:
    """The records in lists of limited number and size: one record may have many megabytes."""
    batch: list[ArchivedRecord] = []
    size = 0
    for record in records:
        batch.append(record)
        size += len(record.value or b"")
        if len(batch) == RECORDS_PER_BATCH or size > BYTES_PER_BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _partition(offsets: OffsetRange) -> str:
    return f"{offsets.topic}/{offsets.partition}"
