"""`dead_letters`: every record that cannot be used, unchanged, and the reason."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.tables import DEAD_LETTERS
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.batch import Batch

TABLE = Table(
    contract=DEAD_LETTERS,
    comment="Every record that cannot be used, its bytes unchanged, with the reason.",
    cluster_by=("reason", "timestamp"),
    stats_columns=("partition", "offset"),
    retention_column="timestamp",
    retention_setting="archive",
    schema=(
        "topic STRING NOT NULL COMMENT 'Kafka topic'",
        "partition INT NOT NULL COMMENT 'Kafka partition'",
        "offset BIGINT NOT NULL COMMENT 'Kafka offset'",
        "timestamp TIMESTAMP COMMENT 'Kafka timestamp'",
        "reason STRING NOT NULL COMMENT 'a code of lineproof.schemas.reasons'",
        "error STRING COMMENT 'for cannot_be_processed: why the batch failed'",
        "key BINARY COMMENT 'Kafka key'",
        "headers ARRAY<STRUCT<key: STRING, value: BINARY>> COMMENT 'Kafka headers'",
        "value BINARY COMMENT 'the bytes of the record, unchanged'",
    ),
)


def dead_letters(batch: Batch) -> DataFrame:
    """Rows of `dead_letters`."""
    return batch.facts.where(F.col("reason").isNotNull()).select(*TABLE.columns)


def write(batch: Batch, writer: BatchWriter) -> None:
    """Add the batch's dead letters."""
    if batch.unusable:
        writer.append(TABLE, dead_letters(batch))
