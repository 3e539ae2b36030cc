"""DataFrames like those of Spark's Kafka source, without Kafka."""

from collections.abc import Sequence
from datetime import datetime, timezone

from pyspark.sql import DataFrame, SparkSession

_SCHEMA = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT, "
    "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)

TIME = datetime(2026, 6, 30, 12, tzinfo=timezone.utc)
"""The Kafka timestamp of records, if no other is given."""

Headers = Sequence[tuple[str, bytes | None]]


def records(
    spark: SparkSession,
    values: Sequence[bytes | None],
    first_offset: int = 0,
    headers: Headers | None = None,
    time: datetime = TIME,
) -> DataFrame:
    """A record per value, in order, on one partition."""
    rows = [
        (
            bytearray(b"key"),
            None if value is None else bytearray(value),
            "events",
            0,
            first_offset + n,
            time,
            0,
            headers,
        )
        for n, value in enumerate(values)
    ]
    return spark.createDataFrame(rows, _SCHEMA)
