"""`records`: for every record of the archive, the event that it holds or the reason why it cannot be used."""

from lineproof.schemas.tables import RECORDS
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.batch import Batch

TABLE = Table(
    contract=RECORDS,
    comment="For every record of the archive, the event that it holds or the reason why it cannot be used.",
    cluster_by=("event_id", "run_id"),
    retention_column="timestamp",
    retention_setting="archive",
    schema=(
        "topic STRING NOT NULL COMMENT 'as in the archive'",
        "partition INT NOT NULL COMMENT 'Kafka partition'",
        "offset BIGINT NOT NULL COMMENT 'Kafka offset'",
        "timestamp TIMESTAMP COMMENT 'Kafka timestamp'",
        "reason STRING COMMENT 'why the record cannot be used; null if it can'",
        "event_id STRING COMMENT 'as in lineage_events; of a dead letter, over the SHA-256 of its payload'",
        "run_id STRING COMMENT 'UUID of the run, in lower case'",
        "emitter_id STRING COMMENT 'the emitter that sent it: a new id at every start of a process'",
        "sequence BIGINT COMMENT 'number of the event among those of its emitter_id, from 0'",
        "trace_id STRING COMMENT 'W3C trace id of the envelope'",
        "principal STRING COMMENT 'who sent it: the principal of the topic, or the name of the key at the gateway'",
        "redrives STRING COMMENT 'the dead letter that it replaces (topic/partition/offset)'",
        "event_time TIMESTAMP COMMENT 'eventTime of the event; null in rows written before this column existed'",
    ),
)


def write(batch: Batch, writer: BatchWriter) -> None:
    """Add the batch's records."""
    writer.append(TABLE, batch.facts.select(*TABLE.columns))
