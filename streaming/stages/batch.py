"""A micro-batch of archived records, for the tables of events and runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from lineproof.schemas.limits import DEFAULT_LIMITS, Limits
from lineproof.streaming.delta.key_ranges import KeyRanges, granule, prefix, text_ranges, time_ranges
from lineproof.streaming.spark_settings import storage_level
from lineproof.streaming.stages.values import time_or_day


@dataclass(frozen=True)
class Batch:
    """The facts of a batch, with its counts and ranges, which tell a table what to write and which files to read."""

    facts: DataFrame
    """A row per record, persisted: computing it is most of the work."""
    usable: int
    unusable: int
    certificates: int
    tests: int
    """The number of events with test results."""
    event_times: KeyRanges
    """Ranges that cover `event_time` of all events."""
    issue_times: KeyRanges
    """Ranges that cover `issued_at` of all certificates that have one."""
    run_ids: KeyRanges
    """Ranges that cover the run ids of all events. They are narrow if the ids are UUIDv7, which begin with the time."""
    limits: Limits

    def since(self) -> Column:
        """Whether `event_time` is not before the batch's first event. Skips files with older events."""
        (first, _), *_ = self.event_times.ranges
        return F.col("event_time") >= first

    @property
    def count(self) -> int:
        """The number of records. The first batch of a stream can be empty."""
        return self.usable + self.unusable

    @property
    def events(self) -> DataFrame:
        """The facts of the records that are events."""
        return events(self.facts)


@contextmanager
def open_batch(facts: DataFrame, limits: Limits = DEFAULT_LIMITS) -> Iterator[Batch]:
    """Compute the facts once, with their counts and ranges, and drop them at the end."""
    persisted = facts.persist(storage_level(facts.sparkSession))
    try:
        summary = _summarise(persisted)
        yield Batch(
            facts=persisted,
            usable=summary.usable,
            unusable=summary.unusable,
            certificates=summary.certificates,
            tests=summary.tests,
            event_times=time_ranges("event_time", summary.times),
            issue_times=time_ranges("issued_at", summary.issue_times),
            run_ids=text_ranges("run_id", summary.run_ids),
            limits=limits,
        )
    finally:
        persisted.unpersist()


def events(facts: DataFrame) -> DataFrame:
    """The facts of the records that are events."""
    return facts.where(F.col("reason").isNull())


def issued_at(certificate: Column) -> Column:
    """The time of a certificate; null if its timestamp cannot be read as a time."""
    return time_or_day(certificate["timestamp"])


def _summarise(facts: DataFrame) -> Row:
    """Counts and ranges, in one pass without groups."""
    [row] = facts.agg(*_summary()).collect()
    return row


@cache
def _summary() -> list[Column]:
    is_usable = F.col("reason").isNull()

    def distinct(key: Column) -> Column:
        return F.collect_set(F.when(is_usable, key))

    return [
        F.count_if(is_usable).alias("usable"),
        F.count_if(~is_usable).alias("unusable"),
        F.count_if(is_usable & F.col("certificate").isNotNull()).alias("certificates"),
        F.count_if(is_usable & F.col("tests").isNotNull()).alias("tests"),
        distinct(granule(F.col("event_time"))).alias("times"),
        distinct(granule(issued_at(F.col("certificate")))).alias("issue_times"),
        distinct(prefix(F.col("run_id"))).alias("run_ids"),
    ]
