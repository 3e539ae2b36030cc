"""Read a batch that has records whose timestamps Spark cannot represent.

A producer chooses the timestamp of its records, unless the topic has `message.timestamp.type=LogAppendTime`. Brokers
before Kafka 4 accept every number. Spark counts microseconds in 64 bits: a timestamp in nanoseconds overflows, and its
Kafka source fails on every attempt to read the batch. Such records are read without Spark.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from lineproof.schemas.record import ReadRecords, TopicRecord
from lineproof.streaming.recovery.topic import OffsetRanges

LAST_MS = (2**63 - 1) // 1000
"""The last timestamp, in milliseconds, that Spark's Kafka source can read. The first one has the same distance to 0."""
LAST_KEPT_MS = 253_402_300_799_999
"""The end of the year 9999: later timestamps are not archived, because most readers cannot represent them."""

_SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("timestampType", pa.int32()),
        ("key", pa.binary()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        ("value", pa.binary()),
    ]
)
_COLUMNS = _SCHEMA.names


def is_overflow(report: str) -> bool:
    """Whether a batch failed because a timestamp is too large for Spark."""
    return "ArithmeticException: long overflow" in report


@dataclass(frozen=True)
class _Span:
    """The offsets of a partition: those before the first unreadable record, up to the last one, and the rest."""

    topic: str
    partition: int
    first: int
    unreadable: int
    rest: int
    end: int


def read_batch(
    spark: SparkSession, options: Mapping[str, str], ranges: Mapping[str, OffsetRanges], read_records: ReadRecords
) -> DataFrame:
    """The records of these ranges of offsets, as Spark's Kafka source would give them.

    Of each partition, this process reads the records from the first to the last unreadable one, and Spark the others.
    Timestamps that Spark cannot represent are null.
    """
    spans = [
        _span(topic, partition, first, end, read_records)
        for topic, partitions in ranges.items()
        for partition, (first, end) in partitions.items()
    ]
    rows = pa.Table.from_pylist(list(_rows(spans, read_records)), _SCHEMA)
    parts = [
        spark.createDataFrame(rows),
        *_readable(spark, options, ((span.topic, span.partition, span.first, span.unreadable) for span in spans)),
        *_readable(spark, options, ((span.topic, span.partition, span.rest, span.end) for span in spans)),
    ]
    return reduce(DataFrame.unionByName, parts)


def _span(topic: str, partition: int, first: int, end: int, read_records: ReadRecords) -> _Span:
    unreadable, rest = end, end
    for record in read_records(topic, partition, first, end):
        if abs(record.timestamp_ms) > LAST_MS:
            unreadable, rest = min(unreadable, record.offset), record.offset + 1
    return _Span(topic, partition, first, unreadable, rest, end)


def _rows(spans: Iterable[_Span], read_records: ReadRecords) -> Iterator[dict[str, Any]]:
    for span in spans:
        for record in read_records(span.topic, span.partition, span.unreadable, span.rest):
            yield {"topic": span.topic, "partition": span.partition, **_row(record)}


def _row(record: TopicRecord) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "timestamp": record.timestamp_ms * 1000 if 0 <= record.timestamp_ms <= LAST_KEPT_MS else None,
        "timestampType": record.timestamp_type,
        "key": record.key,
        "headers": [{"key": name, "value": value} for name, value in record.headers] or None,
        "value": record.value,
    }


def _readable(
    spark: SparkSession, options: Mapping[str, str], ranges: Iterable[tuple[str, int, int, int]]
) -> Iterator[DataFrame]:
    """The records of these ranges, read by Spark; nothing if all of them are empty."""
    assigned: dict[str, list[int]] = {}
    begins: dict[str, dict[str, int]] = {}
    ends: dict[str, dict[str, int]] = {}
    for topic, partition, first, end in ranges:
        if first < end:
            assigned.setdefault(topic, []).append(partition)
            begins.setdefault(topic, {})[str(partition)] = first
            ends.setdefault(topic, {})[str(partition)] = end
    if assigned:
        source = spark.read.format("kafka").options(**options)
        offsets = source.option("startingOffsets", json.dumps(begins)).option("endingOffsets", json.dumps(ends))
        yield offsets.option("assign", json.dumps(assigned)).load().select(*_COLUMNS)
