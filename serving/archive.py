"""The archive, read without Spark: in order, and in little memory however large it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lineproof.serving.delta_files import DataFile, bounded_duckdb, files_of, on_this_machine, quoted, rows_sql
from lineproof.serving.selection import in_partition

AT_A_TIME = 500
"""So many records are handed on at once."""

_NO_FILES = (
    'NULL::VARCHAR AS topic, NULL::INT AS partition, NULL::BIGINT AS "offset", NULL::TIMESTAMPTZ AS timestamp, '
    "NULL::BLOB AS key, NULL::STRUCT(key VARCHAR, value BLOB)[] AS headers, NULL::BLOB AS value"
)
_PARTS = """
SELECT topic, partition, min(archive.offset), max(archive.offset), count(*), min(archive.timestamp)
FROM {rows} GROUP BY topic, partition
"""
_EXTENT = """
SELECT
    count(*),
    coalesce(sum(coalesce(octet_length(key), 0) + coalesce(octet_length(value), 0)), 0)::BIGINT,
    min(archive.timestamp),
    max(archive.timestamp)
FROM {rows}
"""
_RECORDS = "SELECT archive.offset, key, headers, value FROM {rows} AND archive.offset > {after} ORDER BY archive.offset"
_EVERYWHERE = (0, 2**63 - 1)


@dataclass(frozen=True)
class Part:
    """What is selected of one partition of one topic."""

    topic: str
    partition: int
    first: int
    last: int
    records: int

    @property
    def condition(self) -> str:
        """On rows called `archive`."""
        return in_partition(self.topic, self.partition, self.first, self.last)


@dataclass(frozen=True)
class Extent:
    """How much is selected, and from when to when."""

    records: int
    bytes: int
    begin: datetime | None
    end: datetime | None


@dataclass(frozen=True)
class ArchivedRecord:
    """A record as it came."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    headers: list[tuple[str, bytes | None]]
    value: bytes | None


@dataclass(frozen=True)
class Selected:
    """Rows of the archive: by a condition on rows called `archive`, and, if there is one, a file of coordinates."""

    condition: str
    coordinates: Path | None = None

    def rows(self, files: list[DataFile]) -> str:
        """A FROM clause and its WHERE."""
        semi_join = (
            f' SEMI JOIN read_parquet({quoted(self.coordinates)}) AS selected USING (topic, partition, "offset")'
            if self.coordinates
            else ""
        )
        return f"{rows_sql(files, _NO_FILES)} AS archive{semi_join} WHERE {self.condition}"


class Archive:
    """The table `archive` as it is now, below one directory; `home` is where there is room on disk."""

    def __init__(self, tables: str, home: Path) -> None:
        self._files = files_of(on_this_machine(tables) / "archive")
        self._home = home

    def parts(self, selected: Selected) -> list[Part]:
        """What is selected of each partition. Topics come in the order of time, partitions by number."""
        rows = self._query(_PARTS.format(rows=selected.rows(self._files)))
        began: dict[str, datetime] = {}
        for topic, *_, timestamp in rows:
            began[topic] = min(timestamp, began.get(topic, timestamp))
        return [Part(*row[:-1]) for row in sorted(rows, key=lambda row: (began[row[0]], row[0], row[1]))]

    def extent(self, selected: Selected) -> Extent:
        """How much is selected. Reads all of it."""
        return Extent(*self._query(_EXTENT.format(rows=selected.rows(self._files)))[0])

    def records(self, selected: Selected, part: Part, after: int = -1) -> Iterator[list[ArchivedRecord]]:
        """The selected records of one partition behind an offset, in their order, some at a time."""
        within = Selected(f"{selected.condition} AND {part.condition}", selected.coordinates)
        for files in self._steps(part, after):
            sql = _RECORDS.format(rows=within.rows(files), after=after)
            with bounded_duckdb(self._home) as connection:
                for batch in connection.sql(sql).to_arrow_reader(AT_A_TIME):
                    yield [_record(part, row) for row in batch.to_pylist()]

    def _steps(self, part: Part, after: int) -> Iterator[list[DataFile]]:
        """Files to be read together, because the ranges of their offsets meet; one step after the other."""
        reached = -1
        step: list[DataFile] = []
        for offsets, file in sorted(
            ((file.range_of("offset", _EVERYWHERE), file) for file in self._files), key=lambda one: one[0]
        ):
            first, last = file.range_of("partition", _EVERYWHERE)
            is_outside = offsets[1] <= after or offsets[1] < part.first or offsets[0] > part.last
            if is_outside or not first <= part.partition <= last:
                continue
            if offsets[0] > reached and step:
                yield step
                step = []
            step.append(file)
            reached = max(reached, offsets[1])
        if step:
            yield step

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        with bounded_duckdb(self._home) as connection:
            answer = connection.sql(sql).to_arrow_table()
        return list(zip(*(column.to_pylist() for column in answer.columns), strict=True))


def _record(part: Part, row: dict[str, Any]) -> ArchivedRecord:
    headers = [(one["key"], one["value"]) for one in row["headers"] or ()]
    return ArchivedRecord(part.topic, part.partition, row["offset"], row["key"], headers, row["value"])
