"""One micro-batch of archived records, as every table's `write` gets it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from lineproof.streaming.sightings import sightings
from lineproof.streaming.store import Store
from lineproof.streaming.tables import archive
from lineproof.streaming.tables.archive import COORDINATES

LOOKED_AT = ("day", *COORDINATES, "reason", "event_time", "certificate")
"""The columns that the stream brings: what a batch is known by. All others are read where they are wanted."""


@dataclass(frozen=True)
class Batch:
    """The records of one batch, and what is worth knowing before a table is written."""

    records: DataFrame
    """All columns of every record: a plan that reads the archive anew, each time the columns that are asked for.
    That is faster than to keep them, most of all the bytes, which few tables want and only of what is new."""
    sightings: DataFrame
    """Where jobs and datasets were seen, and with which facets."""
    usable: int
    unusable: int
    certificates: int
    event_times: Column
    """Whether `event_time` lies within the batch's own range: lets a table skip files it need not read."""
    offsets: Column
    """Whether `topic`, `partition`, `offset` lie within the batch's own ranges: likewise."""
    schema_ids: Mapping[int, int]

    @property
    def events(self) -> DataFrame:
        """The records that are events."""
        return usable(self.records)


@contextmanager
def batch_of(arrived: DataFrame, store: Store, schema_ids: Mapping[int, int]) -> Iterator[Batch]:
    """Look at the batch once: its size, its range of times, and the offsets it covers."""
    ranges = _ranges(arrived)
    offsets = reduce(or_, (_is_within(row) for row in ranges), F.lit(False))
    records = _records(arrived, ranges, store)
    seen = sightings(usable(records), schema_ids).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield Batch(
            records=records,
            sightings=seen,
            usable=sum(row.usable for row in ranges),
            unusable=sum(row.unusable for row in ranges),
            certificates=sum(row.certificates for row in ranges),
            event_times=_is_between_times([row for row in ranges if row.usable]),
            offsets=offsets,
            schema_ids=schema_ids,
        )
    finally:
        seen.unpersist()


def usable(records: DataFrame) -> DataFrame:
    """The records that are events."""
    return records.where(F.col("reason").isNull())


def _ranges(arrived: DataFrame) -> list[Row]:
    """A row per Kafka partition and day: small however large the batch is."""
    is_usable = F.col("reason").isNull()
    usable_time = F.unix_micros(F.when(is_usable, F.col("event_time")))
    return (
        arrived.groupBy("day", "topic", "partition")
        .agg(
            F.min("offset").alias("first_offset"),
            F.max("offset").alias("last_offset"),
            F.count_if(is_usable).alias("usable"),
            F.count_if(~is_usable).alias("unusable"),
            F.count_if(is_usable & F.col("certificate").isNotNull()).alias("certificates"),
            F.min(usable_time).alias("first_time"),
            F.max(usable_time).alias("last_time"),
        )
        .collect()
    )


def _records(arrived: DataFrame, ranges: list[Row], store: Store) -> DataFrame:
    """The batch's records in the archive: those of its ranges, unless others lie in between, as after a compaction."""
    of_days = reduce(or_, ((F.col("day") == row.day) & _is_within(row) for row in ranges), F.lit(False))
    records = store.read(archive.TABLE).where(of_days)
    if records.count() == sum(row.usable + row.unusable for row in ranges):
        return records
    return records.join(arrived.select(*COORDINATES), list(COORDINATES), "left_semi")


def _is_within(row: Row) -> Column:
    is_within: Column = (
        (F.col("topic") == row.topic)
        & (F.col("partition") == row.partition)
        & F.col("offset").between(row.first_offset, row.last_offset)
    )
    return is_within


def _is_between_times(ranges: list[Row]) -> Column:
    if not ranges:
        return F.lit(False)
    return F.col("event_time").between(
        F.timestamp_micros(F.lit(min(row.first_time for row in ranges))),
        F.timestamp_micros(F.lit(max(row.last_time for row in ranges))),
    )
