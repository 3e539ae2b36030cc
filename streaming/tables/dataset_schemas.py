"""`dataset_schemas`: every schema that a dataset had, with the first and the last event that states it.

A dataset that returns to an earlier schema gets no new row: `last_seen` of the earlier row advances.
"""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.tables import DATASET_SCHEMAS
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.graph import GraphBatch
from lineproof.streaming.stages.latest_facets import facet_named
from lineproof.streaming.stages.merge_rules import EARLIEST, LATEST, MergeRules

FIELDS = "ARRAY<STRUCT<name: STRING, type: STRING, description: STRING>>"
_SEEN = "STRUCT<event_time: TIMESTAMP, event_id: STRING, run_id: STRING>"

TABLE = Table(
    contract=DATASET_SCHEMAS,
    comment="Every schema that a dataset had, with the first and the last event that states it.",
    cluster_by=("namespace", "name"),
    retention_column="last_seen.event_time",
    schema=(
        "namespace STRING NOT NULL COMMENT 'namespace of the dataset'",
        "name STRING NOT NULL COMMENT 'name of the dataset'",
        "schema_hash STRING NOT NULL COMMENT 'SHA-256 of its fields'",
        f"fields {FIELDS} COMMENT 'its columns'",
        "fields_json STRING COMMENT 'the fields as JSON, nested fields included'",
        f"first_seen {_SEEN} COMMENT 'earliest event with this schema'",
        f"last_seen {_SEEN} COMMENT 'latest event with this schema'",
    ),
)


@cache
def _derived() -> dict[str, Column]:
    return {"fields": F.from_json("fields_json", FIELDS)}


MERGE = MergeRules(
    DATASET_SCHEMAS.key, {"fields_json": EARLIEST, "first_seen": EARLIEST, "last_seen": LATEST}, _derived
)


def write(batch: GraphBatch, writer: BatchWriter) -> None:
    """Merge the batch's schemas into the table."""
    writer.fold(TABLE, batch.observations.select("namespace", "name"), observed_schemas(batch.observations), MERGE)


def observed_schemas(observations: DataFrame) -> DataFrame:
    """Each observation of a dataset with a schema, as the row of a schema that was seen only once."""
    fields = F.get_json_object(facet_named(F.col("facets"), "schema"), "$.fields")
    seen = F.struct("event_time", "event_id", "run_id")
    return (
        observations.where(F.col("role") != "JOB")
        .select("namespace", "name", fields.alias("fields_json"), seen.alias("first_seen"), seen.alias("last_seen"))
        .where(F.col("fields_json").isNotNull())
        .withColumn("schema_hash", F.sha2("fields_json", 256))
    )
