"""Tables as curate makes them, without a topic."""

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lineproof.streaming.batch import batch_of
from lineproof.streaming.job import TABLES, side_by_side, write_tables
from lineproof.streaming.store import Store
from lineproof.streaming.tables import archive
from lineproof.streaming.views import for_spark, named_in
from tests.streaming.records import records

Batches = Sequence[Sequence[bytes | None]]


def curated(spark: SparkSession, root: str, batches: Batches, repeated: int | None = None) -> Store:
    """Tables fed batch by batch, as curate does it; one of them twice, as after a crash before its checkpoint."""
    store = Store(spark, root)
    side_by_side(spark, store.create, TABLES)
    offset = 0
    for number, values in enumerate(batches):
        arrived = archive.archive(records(spark, values, offset))
        Store(spark, root, "ingest", number).append(archive.TABLE, arrived)
        in_archive = store.read(archive.TABLE).where(f"offset >= {offset}")
        offset += len(values)
        written = Store(spark, root, "curate", number)
        for _ in range(2 if number == repeated else 1):
            with batch_of(in_archive, {}) as batch:
                write_tables(spark, batch, written)
    return store


def asked(spark: SparkSession, store: Store, query: str) -> DataFrame:
    """The answer of the tables and views, by Spark."""
    for table in TABLES:
        store.read(table).createOrReplaceTempView(table.name)
    for statement in for_spark(sorted(named_in(query)), temporary=True):
        spark.sql(statement)
    return spark.sql(query)


def in_utc(value: Any) -> Any:
    """PySpark gives times without a zone, in that of the machine."""
    if isinstance(value, dict):
        return {name: in_utc(member) for name, member in value.items()}
    if isinstance(value, list):
        return list(map(in_utc, value))
    return value.astimezone(timezone.utc) if isinstance(value, datetime) else value
