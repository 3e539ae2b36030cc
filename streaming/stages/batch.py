"""A micro-batch of archived records, for the tables of events and runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from lineproof.schemas.limits import DEFAULT_LIMITS, Limits
from lineproof.streaming.delta.table import Range, is_between
from lineproof.streaming.spark_settings import storage_level


@dataclass(frozen=True)
class Batch:
    """The facts of a batch, with its counts and ranges, which tell a table what to write and which files to read."""

    archived: DataFrame
    """The archive, or the part of it with the batch's records. Read only for the bytes of records."""
    facts: DataFrame
    """A row per record, persisted: computing it is most of the work."""
    usable: int
    unusable: int
    certificates: int
    tests: int
    """The number of events with test results."""
    event_times: Column
    """Whether `event_time` is in the batch's range. A table skips files outside it."""
    since: Column
    """Whether `event_time` is not before the batch's first event. Skips files with older events."""
    issue_times: Column
    """Whether `issued_at` of a certificate is in the batch's range, or is null. Skips files outside it."""
    run_ids: Range
    """The range of the batch's run ids. It is narrow if they are UUIDv7, which begin with the time."""
    offsets: Column
    """Whether `offset` is in the batch's range. Skips files outside it."""
    limits: Limits

    @property
    def count(self) -> int:
        """The number of records. The first batch of a stream can be empty."""
        return self.usable + self.unusable

    @property
    def events(self) -> DataFrame:
        """The facts of the records that are events."""
        return events(self.facts)


@contextmanager
def open_batch(facts: DataFrame, archived: DataFrame, limits: Limits = DEFAULT_LIMITS) -> Iterator[Batch]:
    """Compute the facts once, with their counts and ranges, and drop them at the end."""
    persisted = facts.persist(storage_level(facts.sparkSession))
    try:
        summary = _summarise(persisted)
        yield Batch(
            archived=archived,
            facts=persisted,
            usable=summary.usable,
            unusable=summary.unusable,
            certificates=summary.certificates,
            tests=summary.tests,
            event_times=is_between("event_time", *summary.times),
            since=F.col("event_time") >= F.timestamp_micros(F.lit(summary.times[0])),
            issue_times=is_between("issued_at", *summary.issue_times) | F.col("issued_at").isNull(),
            run_ids=Range("run_id", *summary.run_ids),
            offsets=F.col("offset").between(*summary.offsets),
            limits=limits,
        )
    finally:
        persisted.unpersist()


def events(facts: DataFrame) -> DataFrame:
    """The facts of the records that are events."""
    return facts.where(F.col("reason").isNull())


def issued_at(certificate: Column) -> Column:
    """The time of a certificate; null if its timestamp cannot be read as a time."""
    return certificate["timestamp"].try_cast("timestamp")


def _summarise(facts: DataFrame) -> Row:
    """Counts and ranges. Without groups, because Spark would sort the texts to group them."""
    [row] = facts.agg(*_summary()).collect()
    return row


@cache
def _summary() -> list[Column]:
    is_usable = F.col("reason").isNull()

    def value_range(column: Column) -> Column:
        usable = F.when(is_usable, column)
        return F.array(F.min(usable), F.max(usable))

    return [
        F.count_if(is_usable).alias("usable"),
        F.count_if(~is_usable).alias("unusable"),
        F.count_if(is_usable & F.col("certificate").isNotNull()).alias("certificates"),
        F.count_if(is_usable & F.col("tests").isNotNull()).alias("tests"),
        value_range(F.unix_micros("event_time")).alias("times"),
        value_range(F.unix_micros(issued_at(F.col("certificate")))).alias("issue_times"),
        value_range(F.col("run_id")).alias("run_ids"),
        F.array(F.min("offset"), F.max("offset")).alias("offsets"),
    ]
