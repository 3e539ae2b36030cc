"""`dead_letters`: every record that cannot be used, its bytes unchanged, and why."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.stages.batch import Batch
from lineproof.streaming.tables.archive import COORDINATES

TABLE = Table(
    name="dead_letters",
    comment="Every record that cannot be used, its bytes unchanged, with the reason.",
    key=COORDINATES,
    cluster_by=("reason", "timestamp"),
    skip_by=("partition", "offset"),
    kept_by="timestamp",
    kept_as="archive",
    schema=(
        "topic STRING NOT NULL COMMENT 'Kafka topic'",
        "partition INT NOT NULL COMMENT 'Kafka partition'",
        "offset BIGINT NOT NULL COMMENT 'Kafka offset'",
        "timestamp TIMESTAMP COMMENT 'Kafka timestamp'",
        "reason STRING NOT NULL COMMENT 'a code of lineproof.schemas.reasons'",
        "key BINARY COMMENT 'Kafka key'",
        "headers ARRAY<STRUCT<key: STRING, value: BINARY>> COMMENT 'Kafka headers'",
        "value BINARY COMMENT 'the bytes of the record, unchanged'",
    ),
)


def dead_letters(batch: Batch) -> DataFrame:
    """Rows of `dead_letters`: their facts are nothing but the reason, their bytes are in the archive."""
    reasons = batch.facts.where(F.col("reason").isNotNull()).select(*COORDINATES, "reason")
    return batch.archived.where(batch.offsets).join(F.broadcast(reasons), list(COORDINATES)).select(*TABLE.columns)


def write(batch: Batch, store: Store) -> None:
    """Add the batch's dead letters that the table does not have."""
    if batch.unusable == 0:
        return
    known = store.read(TABLE).where(batch.offsets).select(*COORDINATES)
    store.append(TABLE, dead_letters(batch).join(known, list(COORDINATES), "left_anti").select(*TABLE.columns))
