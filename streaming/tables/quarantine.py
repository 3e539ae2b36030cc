"""`quarantine`: records on which a batch failed for a reason that nobody foresaw.

Curate makes dead letters of them, and graph leaves them out. Unlike other tables it is not derived from the archive: a
rebuild reads it, so that it gives the same tables. Deleting a row gives its record another chance at the next rebuild.
"""

from lineproof.schemas.tables import QUARANTINE
from lineproof.streaming.delta.table import Table

TABLE = Table(
    contract=QUARANTINE,
    comment="Records on which a batch failed for a reason that nobody foresaw.",
    cluster_by=("query",),
    schema=(
        "query STRING NOT NULL COMMENT 'curate or graph: the query whose batch failed'",
        "topic STRING COMMENT 'coordinates of the record; null for graph'",
        "partition INT COMMENT 'Kafka partition'",
        "offset BIGINT COMMENT 'Kafka offset'",
        "event_id STRING COMMENT 'for graph: the event, which stays in lineage_events and runs'",
        "error STRING NOT NULL COMMENT 'why the batch failed'",
        "found_at TIMESTAMP NOT NULL COMMENT 'when the record was found'",
    ),
)
