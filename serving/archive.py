"""Read the archive without Spark: in the order of offsets, and in little memory however large it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lineproof.schemas.record import Header
from lineproof.schemas.tables import ARCHIVE
from lineproof.serving.delta_reader import (
    TableFile,
    TableSnapshot,
    batches,
    bounded_duckdb,
    literal,
    local_directory,
    rows,
)
from lineproof.serving.selection import in_partition

RECORDS_PER_BATCH = 500

_RANGES = """
SELECT topic, partition, min(archive.offset), max(archive.offset), count(*), min(archive.timestamp)
FROM {selected} GROUP BY topic, partition
"""
_SIZE = """
SELECT
    count(*),
    coalesce(sum(coalesce(octet_length(key), 0) + coalesce(octet_length(value), 0)), 0)::BIGINT,
    min(archive.timestamp),
    max(archive.timestamp)
FROM {selected}
"""
_RECORDS = (
    "SELECT archive.offset, key, headers, value FROM {selected} AND archive.offset > {after} ORDER BY archive.offset"
)
_ALL_OFFSETS = (0, 2**63 - 1)


@dataclass(frozen=True)
class OffsetRange:
    """The selected records of one partition, from the first to the last offset."""

    topic: str
    partition: int
    first: int
    last: int
    records: int

    @property
    def condition(self) -> str:
        """The SQL condition for records in this range, on rows aliased `archive`."""
        return in_partition(self.topic, self.partition, self.first, self.last)


@dataclass(frozen=True)
class ArchiveSize:
    """How many records are selected, how large they are, and the first and last timestamp."""

    records: int
    bytes: int
    begin: datetime | None
    end: datetime | None


@dataclass(frozen=True)
class ArchivedRecord:
    """A record as it was read from Kafka."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    headers: list[Header]
    value: bytes | None


@dataclass(frozen=True)
class ArchiveFilter:
    """Selects rows by a condition on rows aliased `archive` and, if given, by a Parquet file of coordinates."""

    condition: str
    coordinates: Path | None = None

    def select_from(self, archive: str) -> str:
        """A FROM clause with its WHERE, for the rows of this query."""
        semi_join = (
            f' SEMI JOIN read_parquet({literal(self.coordinates)}) AS selected USING (topic, partition, "offset")'
            if self.coordinates
            else ""
        )
        return f"({archive}) AS archive{semi_join} WHERE {self.condition}"


class Archive:
    """The newest version of the table `archive`. Queries that need more than the memory limit spill below `spill`."""

    def __init__(self, tables: str, spill: Path) -> None:
        self._table = TableSnapshot(local_directory(tables) / ARCHIVE.name)
        self._spill = spill

    @property
    def files(self) -> list[TableFile]:
        """The files of this version."""
        return self._table.files

    def ranges(self, where: ArchiveFilter, files: Sequence[TableFile] | None = None) -> list[OffsetRange]:
        """The selected range of each partition, ordered by the topic's first timestamp, then by partition.

        Only records in `files` are looked at, if given.
        """
        found = self._query(_RANGES, where, files)
        began: dict[str, datetime] = {}
        for topic, *_, timestamp in found:
            began[topic] = min(timestamp, began.get(topic, timestamp))
        return [OffsetRange(*row[:-1]) for row in sorted(found, key=lambda row: (began[row[0]], row[0], row[1]))]

    def size(self, where: ArchiveFilter) -> ArchiveSize:
        """How much is selected. Reads all selected records."""
        return ArchiveSize(*self._query(_SIZE, where)[0])

    def records(self, where: ArchiveFilter, within: OffsetRange, after: int = -1) -> Iterator[list[ArchivedRecord]]:
        """The selected records of one partition after an offset, in order, in batches."""
        narrowed = ArchiveFilter(f"{where.condition} AND {within.condition}", where.coordinates)
        for files in self._file_groups(within, after):
            with bounded_duckdb(self._spill) as connection:
                selected = narrowed.select_from(self._table.select(connection, files))
                relation = connection.sql(_RECORDS.format(selected=selected, after=after))
                for batch in batches(relation, RECORDS_PER_BATCH):
                    yield [_record(within, row) for row in batch.to_pylist()]

    def _file_groups(self, within: OffsetRange, after: int) -> Iterator[list[TableFile]]:
        """Files to read together, because the ranges of their offsets overlap, in the order of offsets."""
        reached = -1
        group: list[TableFile] = []
        by_offset = sorted(
            ((file.range_of("offset", _ALL_OFFSETS), file) for file in self._table.files), key=lambda pair: pair[0]
        )
        for (first, last), file in by_offset:
            first_partition, last_partition = file.range_of("partition", _ALL_OFFSETS)
            is_outside = last <= after or last < within.first or first > within.last
            if is_outside or not first_partition <= within.partition <= last_partition:
                continue
            if first > reached and group:
                yield group
                group = []
            group.append(file)
            reached = max(reached, last)
        if group:
            yield group

    def _query(self, sql: str, where: ArchiveFilter, files: Sequence[TableFile] | None = None) -> list[tuple[Any, ...]]:
        with bounded_duckdb(self._spill) as connection:
            selected = where.select_from(self._table.select(connection, files))
            return list(rows(connection.sql(sql.format(selected=selected))))


def _record(source: OffsetRange, row: dict[str, Any]) -> ArchivedRecord:
    headers = [(header["key"], header["value"]) for header in row["headers"] or ()]
    return ArchivedRecord(source.topic, source.partition, row["offset"], row["key"], headers, row["value"])
