"""`archive`: every record as it came.

Append only. Everything after it is a function of it.
"""

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.recovery.topic import Ranges

COORDINATES = ("topic", "partition", "offset")
"""What a record of the topic is known by."""

TABLE = Table(
    name="archive",
    comment="Every record of the topic as it came. Append only.",
    key=COORDINATES,
    partition_by=("day",),
    skip_by=("partition", "offset", "timestamp"),
    kept_by="day",
    schema=(
        "day DATE COMMENT 'UTC day of the Kafka timestamp'",
        "topic STRING COMMENT 'its name; NAME#2 for the records of a topic that was made anew'",
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
    """Rows of `archive` from records as the Kafka source gives them."""
    return records.withColumns({"day": F.to_date("timestamp"), "timestamp_type": F.col("timestampType")}).select(
        *TABLE.columns
    )


def extent(store: Store) -> Mapping[str, Ranges]:
    """The first archived offset and the one after the last, by topic and partition."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    ends = store.read(TABLE).groupBy("topic", "partition").agg(F.min("offset"), F.max("offset") + 1)
    for topic, partition, begin, end in ends.collect():
        found.setdefault(topic, {})[partition] = (begin, end)
    return found
