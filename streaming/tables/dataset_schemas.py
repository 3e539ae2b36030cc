"""`dataset_schemas`: every schema a dataset was ever seen with, since when and until when.

A schema that comes back is the row it was before: `last_seen` moves on.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.stages.graph import GraphBatch
from lineproof.streaming.stages.latest_facets import facet_named
from lineproof.streaming.stages.merge_rules import EARLIEST, LATEST, Rule, folded

FIELDS = "ARRAY<STRUCT<name: STRING, type: STRING, description: STRING>>"
_SEEN = "STRUCT<event_time: TIMESTAMP, event_id: STRING, run_id: STRING>"
KEY = ("namespace", "name", "schema_hash")
RULES: dict[str, Rule] = {"fields_json": EARLIEST, "first_seen": EARLIEST, "last_seen": LATEST}

TABLE = Table(
    name="dataset_schemas",
    comment="Every schema a dataset was seen with, since when and until when.",
    key=KEY,
    cluster_by=("namespace", "name"),
    kept_by="last_seen.event_time",
    schema=(
        "namespace STRING NOT NULL COMMENT 'where the dataset is'",
        "name STRING NOT NULL COMMENT 'its name there'",
        "schema_hash STRING NOT NULL COMMENT 'SHA-256 of its fields'",
        f"fields {FIELDS} COMMENT 'its columns'",
        "fields_json STRING COMMENT 'the fields whole: also nested ones'",
        f"first_seen {_SEEN} COMMENT 'earliest event with it'",
        f"last_seen {_SEEN} COMMENT 'latest event with it'",
    ),
)


def dataset_schemas(sightings: DataFrame) -> DataFrame:
    """Rows of `dataset_schemas` from a batch's sightings."""
    return rows(stated(sightings))


def rows(stated: DataFrame) -> DataFrame:
    """Rows of `dataset_schemas` from others: any of the same schema are merged."""
    return folded(stated, KEY, RULES).withColumn("fields", F.from_json("fields_json", FIELDS))


def stated(sightings: DataFrame) -> DataFrame:
    """Each sighting with a schema, as a row that knows of nothing else."""
    fields = F.get_json_object(facet_named(F.col("facets"), "schema"), "$.fields")
    seen = F.struct("event_time", "event_id", "run_id")
    return (
        sightings.where(F.col("role") != "JOB")
        .select("namespace", "name", fields.alias("fields_json"), seen.alias("first_seen"), seen.alias("last_seen"))
        .where(F.col("fields_json").isNotNull())
        .withColumn("schema_hash", F.sha2("fields_json", 256))
    )


def write(batch: GraphBatch, store: Store) -> None:
    """Merge the batch's schemas into the table."""
    store.fold(TABLE, batch.sightings.select("namespace", "name"), stated(batch.sightings), rows)
