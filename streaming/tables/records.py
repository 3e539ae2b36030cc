"""`records`: what every record of the archive is: an event, or something that cannot be used, and why."""

from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.stages.batch import Batch
from lineproof.streaming.tables.archive import COORDINATES

TABLE = Table(
    name="records",
    comment="What every record of the archive is: an event, or the reason why it cannot be used.",
    key=COORDINATES,
    cluster_by=("event_id", "run_id"),
    kept_by="timestamp",
    kept_as="archive",
    schema=(
        "topic STRING NOT NULL COMMENT 'as in the archive'",
        "partition INT NOT NULL COMMENT 'Kafka partition'",
        "offset BIGINT NOT NULL COMMENT 'Kafka offset'",
        "timestamp TIMESTAMP COMMENT 'Kafka timestamp'",
        "reason STRING COMMENT 'why the record cannot be used; null if it can'",
        "event_id STRING COMMENT 'UUIDv8 over the SHA-256 of the payload'",
        "run_id STRING COMMENT 'UUID of the run, in lower case'",
        "emitter_id STRING COMMENT 'the emitter that sent it, one per life of a process'",
        "sequence BIGINT COMMENT 'counts the events of one emitter_id from 0'",
        "trace_id STRING COMMENT 'W3C trace id of the envelope'",
        "event_time TIMESTAMP COMMENT 'eventTime of the event; null in records of before it was kept here'",
    ),
)


def write(batch: Batch, store: Store) -> None:
    """Add the batch's records."""
    store.append(TABLE, batch.facts.select(*TABLE.columns))
