"""`column_lineage`: the columns that each column is made from. One row per pair of columns and job.

Names are those in the events; the view `column_edges` has one node for all names of a dataset.
"""

from functools import cache, reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.limits import Limits
from lineproof.schemas.tables import COLUMN_LINEAGE
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.graph import GraphBatch
from lineproof.streaming.stages.latest_facets import facet_named, hour_of
from lineproof.streaming.stages.merge_rules import EARLIEST, LATEST, MergeRules, smallest

_TRANSFORMATION = "STRUCT<type: STRING, subtype: STRING, description: STRING, masking: BOOLEAN>"
_ENDS = (
    *("job_namespace", "job_name", "source_namespace", "source_name", "source_field"),
    *("target_namespace", "target_name", "target_field"),
)

TABLE = Table(
    contract=COLUMN_LINEAGE,
    comment="The columns that each column is made from. One row per pair of columns and job.",
    cluster_by=("target_name", "source_name"),
    retention_column="last_seen_at",
    schema=(
        "edge_id STRING NOT NULL COMMENT 'SHA-256 of job, source and target'",
        "job_namespace STRING COMMENT 'null if a dataset event states it'",
        "job_name STRING COMMENT 'null if a dataset event states it'",
        "source_namespace STRING NOT NULL COMMENT 'namespace of the dataset with the source column'",
        "source_name STRING NOT NULL COMMENT 'name of the dataset with the source column'",
        "source_field STRING NOT NULL COMMENT 'the source column'",
        "target_namespace STRING COMMENT 'namespace of the dataset with the target column'",
        "target_name STRING COMMENT 'name of the dataset with the target column'",
        "target_field STRING COMMENT 'the target column; null if the whole target depends on the source'",
        f"transformations ARRAY<{_TRANSFORMATION}> COMMENT 'all transformations that any event states'",
        "first_seen_at TIMESTAMP COMMENT 'earliest event that states it'",
        "last_seen_at TIMESTAMP COMMENT 'hour (UTC) of the latest event that states it'",
    ),
)

_COLUMNS = f"ARRAY<STRUCT<namespace: STRING, name: STRING, field: STRING, transformations: ARRAY<{_TRANSFORMATION}>>>"
_FACET = f"""
    fields MAP<STRING, STRUCT<
        inputFields: {_COLUMNS}, transformationDescription: STRING, transformationType: STRING>>,
    dataset {_COLUMNS},
    mappings ARRAY<STRUCT<input: STRING, output: STRING>>
"""


@cache
def merge_rules(limits: Limits) -> MergeRules:
    """How rows of the same pair of columns become one."""
    rules = {
        "transformations": smallest(limits.transformations),
        "first_seen_at": EARLIEST,
        "last_seen_at": LATEST,
    }
    return MergeRules((*COLUMN_LINEAGE.key, *_ENDS), rules)


def write(batch: GraphBatch, writer: BatchWriter) -> None:
    """Merge the batch's column lineage into the table."""
    rules = merge_rules(batch.limits)
    new = rules.merge(stated_columns(batch.observations, batch.limits)).localCheckpoint()
    writer.fold(TABLE, new.select("edge_id"), new, rules)


def stated_columns(observations: DataFrame, limits: Limits) -> DataFrame:
    """The pairs of columns in the columnLineage facets of datasets, as often as they are stated."""
    facet = facet_named(F.col("facets"), "columnLineage")
    is_whole = reduce(and_, (F.col(f"edge.source_{name}").isNotNull() for name in ("namespace", "name", "field")))
    return (
        observations.where((F.col("role") != "JOB") & facet.isNotNull())
        .select(
            F.explode(F.slice(_between_columns(), 1, limits.columns)).alias("edge"),
            F.col("event_time").alias("first_seen_at"),
            hour_of(F.col("event_time")).alias("last_seen_at"),
        )
        .where(is_whole)
        .select("edge.*", "first_seen_at", "last_seen_at")
        .withColumn("edge_id", F.sha2(F.to_json(F.struct(*_ENDS)), 256))
    )


@cache
def _between_columns() -> Column:
    """The pairs of columns of a columnLineage facet, in its current and its older form."""
    facet = facet_named(F.col("facets"), "columnLineage")
    target = F.struct("namespace", "name")
    job = F.struct(F.col("job_namespace").alias("namespace"), F.col("job_name").alias("name"))
    lineage = F.from_json(facet, _FACET)

    def from_column(source: Column, field: Column, field_transformation: Column | None = None) -> Column:
        stated = F.coalesce(source["transformations"], F.array())
        if field_transformation is not None:
            stated = F.concat(stated, field_transformation)
        return _edge(job, source, source["field"], target, field, stated)

    of_fields = F.transform(
        F.map_entries(lineage["fields"]),
        lambda field: F.transform(
            F.coalesce(field["value"]["inputFields"], F.array()),
            lambda source: from_column(source, field["key"], _field_transformation(field["value"])),
        ),
    )
    of_dataset = F.transform(lineage["dataset"], lambda source: from_column(source, F.lit(None).cast("string")))
    of_mappings = F.transform(
        lineage["mappings"],
        lambda mapping: from_column(_source_of(mapping["input"]), F.substring_index(mapping["output"], ".", -1)),
    )
    others = (F.coalesce(edges, F.array()) for edges in (of_dataset, of_mappings))
    return F.concat(F.flatten(F.coalesce(of_fields, F.array())), *others)


def _source_of(mapping: Column) -> Column:
    """The column that a mapping names as `TABLE.COLUMN`: of the input of that name, or of the dataset's namespace."""
    field = F.substring_index(mapping, ".", -1)
    table = F.when(mapping.contains("."), mapping.substr(F.lit(1), F.length(mapping) - F.length(field) - 1))
    inputs = F.filter("named_inputs", lambda dataset: dataset["name"] == table)
    return F.struct(
        F.coalesce(F.get(inputs, F.lit(0))["namespace"], F.col("namespace")).alias("namespace"),
        table.alias("name"),
        field.alias("field"),
        F.array().cast(f"array<{_TRANSFORMATION}>").alias("transformations"),
    )


def _edge(
    job: Column, source: Column, source_field: Column, target: Column, target_field: Column, transformations: Column
) -> Column:
    ends = (
        *(job["namespace"], job["name"]),
        *(source["namespace"], source["name"], source_field),
        *(target["namespace"], target["name"], target_field),
    )
    return F.struct(
        *(end.alias(name) for end, name in zip(ends, _ENDS, strict=True)),
        transformations.alias("transformations"),
    )


def _field_transformation(field: Column) -> Column:
    """The older form of the facet: one transformation for all sources of a field."""
    kind, description = field["transformationType"], field["transformationDescription"]
    stated = F.struct(
        kind.alias("type"),
        F.lit(None).cast("string").alias("subtype"),
        description.alias("description"),
        F.lit(None).cast("boolean").alias("masking"),
    )
    return F.when(F.coalesce(kind, description).isNotNull(), F.array(stated)).otherwise(F.array())
