"""`archive`: every record of the topic, unchanged.

Append only. All other tables are a function of it.
"""

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.tables import ARCHIVE
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.recovery.topic import OffsetRanges

TABLE = Table(
    contract=ARCHIVE,
    comment="Every record of the topic, unchanged. Append only.",
    partition_by=("day",),
    stats_columns=("partition", "offset", "timestamp"),
    retention_column="day",
    schema=(
        "day DATE COMMENT 'UTC day of the Kafka timestamp'",
        "topic STRING COMMENT 'name of the topic; NAME#2 for records of a topic that was deleted and recreated'",
        "partition INT COMMENT 'Kafka partition'",
        "offset BIGINT COMMENT 'Kafka offset'",
        "timestamp TIMESTAMP COMMENT 'Kafka timestamp'",
        "timestamp_type INT COMMENT '0 set by the producer, 1 by the broker'",
        "key BINARY COMMENT 'Kafka key'",
        "headers ARRAY<STRUCT<key: STRING, value: BINARY>> COMMENT 'Kafka headers'",
        "value BINARY COMMENT 'the bytes of the record, unchanged'",
    ),
)


def archive(records: DataFrame) -> DataFrame:
    """Rows of `archive` from the records of Spark's Kafka source."""
    return records.withColumns({"day": F.to_date("timestamp"), "timestamp_type": F.col("timestampType")}).select(
        *TABLE.columns
    )


def extent(tables: TableReader) -> Mapping[str, OffsetRanges]:
    """The first archived offset and the offset after the last, by topic and partition."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    ends = tables.read(TABLE).groupBy("topic", "partition").agg(F.min("offset"), F.max("offset") + 1)
    for topic, partition, begin, end in ends.collect():
        found.setdefault(topic, {})[partition] = (begin, end)
    return found
