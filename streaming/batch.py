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


@dataclass(frozen=True)
class Batch:
    """The records of one batch, twice: narrow and at hand, and wide as a plan that reads them anew.

    The bytes of a record are wanted by few tables and only for rows not seen before. So the stream carries
    the facts alone, and the bytes are read from the archive where they are needed, by offset.
    """

    facts: DataFrame
    """The narrow columns of every record."""
    records: DataFrame
    """All columns of every record."""
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
        """The facts of the records that are events."""
        return self.facts.where(F.col("reason").isNull())


@contextmanager
def batch_of(facts: DataFrame, store: Store, schema_ids: Mapping[int, int]) -> Iterator[Batch]:
    """Look at the batch once: its size, its range of times, and the offsets it covers."""
    cached = facts.persist(StorageLevel.MEMORY_AND_DISK)
    seen: DataFrame | None = None
    try:
        ranges = _ranges(cached)
        offsets = reduce(or_, map(_is_within, ranges), F.lit(False))
        records = store.read(archive.TABLE).where(offsets)
        seen = sightings(cached.where(F.col("reason").isNull()), records, schema_ids)
        yield Batch(
            facts=cached,
            records=records,
            sightings=seen.persist(StorageLevel.MEMORY_AND_DISK),
            usable=sum(row.usable for row in ranges),
            unusable=sum(row.unusable for row in ranges),
            certificates=sum(row.certificates for row in ranges),
            event_times=_is_between_times([row for row in ranges if row.usable]),
            offsets=offsets,
            schema_ids=schema_ids,
        )
    finally:
        if seen is not None:
            seen.unpersist()
        cached.unpersist()


def _ranges(facts: DataFrame) -> list[Row]:
    """A row per Kafka partition: small however large the batch is."""
    is_usable = F.col("reason").isNull()
    usable_time = F.unix_micros(F.when(is_usable, F.col("event_time")))
    return (
        facts.groupBy("topic", "partition")
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
