"""One micro-batch of archived records, as the tables of events and runs get it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from lineproof.streaming.delta.table import Range, is_between
from lineproof.streaming.spark_settings import storage_level


@dataclass(frozen=True)
class Batch:
    """The records of one batch, and what is worth knowing before a table is written."""

    archived: DataFrame
    """The archive, or a part of it with the batch's records: read by whoever asks for their bytes."""
    facts: DataFrame
    """What every record is. Kept, because to find out is most of the work."""
    usable: int
    unusable: int
    certificates: int
    tests: int
    """Events that state results of tests."""
    event_times: Column
    """Whether `event_time` lies within the batch's own range: lets a table skip files it need not read."""
    since: Column
    """Whether `event_time` is not before the batch's first: likewise, where what came later is looked for."""
    issue_times: Column
    """Whether `issued_at` of a certificate lies within the range of the batch's, or is no time: likewise."""
    run_ids: Range
    """The range of the batch's runs: narrow where their ids are UUIDv7, which begin with the time."""
    offsets: Column
    """Whether `offset` lies within the batch's own range: likewise."""

    @property
    def count(self) -> int:
        """Of the records. None, at the very beginning of a stream."""
        return self.usable + self.unusable

    @property
    def events(self) -> DataFrame:
        """The facts of the records that are events."""
        return events(self.facts)


@contextmanager
def batch_of(facts: DataFrame, archived: DataFrame) -> Iterator[Batch]:
    """Find the facts once, and look at their number, their range of times, and the offsets they cover."""
    known = facts.persist(storage_level(facts.sparkSession))
    try:
        ends = _ends(known)
        yield Batch(
            archived=archived,
            facts=known,
            usable=ends.usable,
            unusable=ends.unusable,
            certificates=ends.certificates,
            tests=ends.tests,
            event_times=is_between("event_time", *ends.times),
            since=F.col("event_time") >= F.timestamp_micros(F.lit(ends.times[0])),
            issue_times=is_between("issued_at", *ends.issue_times) | F.col("issued_at").isNull(),
            run_ids=Range("run_id", *ends.run_ids),
            offsets=F.col("offset").between(*ends.offsets),
        )
    finally:
        known.unpersist()


def events(facts: DataFrame) -> DataFrame:
    """The facts of the records that are events."""
    return facts.where(F.col("reason").isNull())


def issued_at(certificate: Column) -> Column:
    """The time of a certificate; null where it states none that can be read as one."""
    return certificate["timestamp"].try_cast("timestamp")


def _ends(facts: DataFrame) -> Row:
    """What there is of a batch, and where it begins and ends. Without groups, for which Spark would sort the texts."""
    [row] = facts.agg(*_of_all()).collect()
    return row


@cache
def _of_all() -> list[Column]:
    is_usable = F.col("reason").isNull()

    def ends(column: Column) -> Column:
        of_events = F.when(is_usable, column)
        return F.array(F.min(of_events), F.max(of_events))

    return [
        F.count_if(is_usable).alias("usable"),
        F.count_if(~is_usable).alias("unusable"),
        F.count_if(is_usable & F.col("certificate").isNotNull()).alias("certificates"),
        F.count_if(is_usable & F.col("tests").isNotNull()).alias("tests"),
        ends(F.unix_micros("event_time")).alias("times"),
        ends(F.unix_micros(issued_at(F.col("certificate")))).alias("issue_times"),
        ends(F.col("run_id")).alias("run_ids"),
        F.array(F.min("offset"), F.max("offset")).alias("offsets"),
    ]
