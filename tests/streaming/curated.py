"""Tables as curate makes them, without a topic."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from lineproof.streaming.batch import batch_of
from lineproof.streaming.job import CURATED, TABLES
from lineproof.streaming.store import Store
from lineproof.streaming.tables import archive
from lineproof.streaming.views import view_sql, views_in
from tests.streaming.records import records

Batches = Sequence[Sequence[bytes | None]]


def curated(spark: SparkSession, root: str, batches: Batches) -> Store:
    """Tables fed batch by batch, as curate does it."""
    store = Store(spark, root)
    for table in TABLES:
        store.create(table)
    offset = 0
    for number, values in enumerate(batches):
        arrived = archive.archive(records(spark, values, offset), {})
        Store(spark, root, "ingest", number).append(archive.TABLE, arrived)
        facts = store.read(archive.TABLE).where(f"offset >= {offset}").select(*archive.NARROW)
        offset += len(values)
        written = Store(spark, root, "curate", number)
        for _ in range(2 if number == 1 else 1):  # once more, as after a crash before the checkpoint was written
            with batch_of(facts, written, {}) as batch:
                for module in CURATED:
                    module.write(batch, written)
    return store


def view(spark: SparkSession, store: Store, name: str) -> DataFrame:
    """A view over the tables, by Spark."""
    for table in TABLES:
        store.read(table).createOrReplaceTempView(table.name)
    for one in views_in(name):
        spark.sql(view_sql(one)).createOrReplaceTempView(one)
    return spark.table(name)
