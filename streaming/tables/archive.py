"""`archive`: every record of the topic, unchanged.

Append only. All other tables are a function of it.
"""

from collections.abc import Mapping
from datetime import datetime, timezone

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.tables import ARCHIVE
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.recovery.topic import OffsetRanges

NO_TIMESTAMP = -1
"""The type of a timestamp that Kafka does not have, or that lies outside of the years that all readers support."""
USABLE_TIMESTAMPS = datetime(1970, 1, 1, tzinfo=timezone.utc), datetime(9999, 12, 31, 23, 59, 59, 999_999, timezone.utc)

TABLE = Table(
    contract=ARCHIVE,
    comment="Every record of the topic, unchanged. Append only.",
    partition_by=("day",),
    stats_columns=("partition", "offset", "timestamp"),
    retention_column="day",
    schema=(
        "day DATE COMMENT 'UTC day on which the record was archived'",
        "topic STRING COMMENT 'name of the topic; NAME#2 for records of a topic that was deleted and recreated'",
        "partition INT COMMENT 'Kafka partition'",
        "offset BIGINT COMMENT 'Kafka offset'",
        "timestamp TIMESTAMP COMMENT 'Kafka timestamp; the minute of archiving if Kafka has none from 1970 to 9999'",
        "timestamp_type INT COMMENT '0 set by the producer, 1 by the broker, -1 by lineproof: no usable timestamp'",
        "key BINARY COMMENT 'Kafka key'",
        "headers ARRAY<STRUCT<key: STRING, value: BINARY>> COMMENT 'Kafka headers'",
        "value BINARY COMMENT 'the bytes of the record, unchanged'",
    ),
)


def archive(records: DataFrame) -> DataFrame:
    """Rows of `archive` from the records of Spark's Kafka source.

    The day is not that of the timestamp, which a producer may choose: it could make a partition for every day.
    """
    is_usable = F.col("timestamp").between(*map(F.lit, USABLE_TIMESTAMPS))
    # The minute: Spark writes times into the code that it generates, and would compile every batch for its second.
    now = F.date_trunc("minute", F.current_timestamp())
    added = {
        "day": F.current_date(),
        "timestamp": F.when(is_usable, F.col("timestamp")).otherwise(now),
        "timestamp_type": F.when(is_usable, F.col("timestampType")).otherwise(NO_TIMESTAMP),
    }
    return records.withColumns(added).select(*TABLE.columns)


def extent(tables: TableReader) -> Mapping[str, OffsetRanges]:
    """The first archived offset and the offset after the last, by topic and partition."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    ends = tables.read(TABLE).groupBy("topic", "partition").agg(F.min("offset"), F.max("offset") + 1)
    for topic, partition, begin, end in ends.collect():
        found.setdefault(topic, {})[partition] = (begin, end)
    return found
