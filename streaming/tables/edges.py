"""`edges`: what a job reads and writes, and what it carries from dataset to dataset and from column to column.

One row per edge, however many runs it had, so that lineage is as fast after years as on the first day. Names are as the
events have them; the views `job_edges`, `dataset_edges` and `column_edges` put one node for all names of a dataset.
"""

from functools import cache, reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.tables import EDGES
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.graph import GraphBatch
from lineproof.streaming.stages.latest_facets import facet_named
from lineproof.streaming.stages.merge_rules import EARLIEST, LATEST, UNION, MergeRules, grouped
from lineproof.streaming.tables import runs

_TRANSFORMATION = "STRUCT<type: STRING, subtype: STRING, description: STRING, masking: BOOLEAN>"
_ENDS = (
    *("job_namespace", "job_name", "source_namespace", "source_name", "source_field"),
    *("target_namespace", "target_name", "target_field"),
)
_CONNECTS = ("kind", *_ENDS)
MERGE = MergeRules((*EDGES.key, *_CONNECTS), {"transformations": UNION, "first_seen_at": EARLIEST, "last_seen": LATEST})

TABLE = Table(
    contract=EDGES,
    comment="What jobs read and write, and carry from dataset to dataset and column to column. One row per edge.",
    cluster_by=("target_name", "source_name"),
    retention_column="last_seen.event_time",
    constraints={"known_kind": "kind IN ('INPUT', 'OUTPUT', 'DATASET', 'COLUMN')"},
    schema=(
        "edge_id STRING NOT NULL COMMENT 'SHA-256 of what it connects'",
        "kind STRING NOT NULL COMMENT 'INPUT and OUTPUT of a job, DATASET to dataset, COLUMN to column'",
        "job_namespace STRING COMMENT 'null where a dataset event says it'",
        "job_name STRING COMMENT 'likewise'",
        "source_namespace STRING COMMENT 'null for an OUTPUT'",
        "source_name STRING COMMENT 'likewise'",
        "source_field STRING COMMENT 'of a COLUMN'",
        "target_namespace STRING COMMENT 'null for an INPUT'",
        "target_name STRING COMMENT 'likewise'",
        "target_field STRING COMMENT 'of a COLUMN; null where all of the target depends on the source'",
        f"transformations ARRAY<{_TRANSFORMATION}> COMMENT 'all that any event named'",
        "first_seen_at TIMESTAMP COMMENT 'earliest event of a run with it'",
        "last_seen STRUCT<event_time: TIMESTAMP, run_id: STRING> COMMENT 'latest event, and its run'",
    ),
)

_COLUMNS = f"ARRAY<STRUCT<namespace: STRING, name: STRING, field: STRING, transformations: ARRAY<{_TRANSFORMATION}>>>"
_COLUMN_LINEAGE = f"""
    fields MAP<STRING, STRUCT<
        inputFields: {_COLUMNS}, transformationDescription: STRING, transformationType: STRING>>,
    dataset {_COLUMNS}
"""


def edges(of_runs: DataFrame, events: DataFrame, observations: DataFrame) -> DataFrame:
    """Rows of `edges` from rows of `runs`, events (of which job events count), and observations."""
    works = _works(of_runs, F.col("jobs"), F.col("first_event_at"), F.col("last_event_at"))
    job = F.array(F.struct(F.col("job_namespace").alias("namespace"), F.col("job_name").alias("name")))
    job_events = events.where(F.col("kind") == "JOB")
    of_job_events = _works(job_events, job, F.col("event_time"), F.col("event_time"))
    stated = _of_jobs(works.unionByName(of_job_events)).unionByName(_of_columns(observations))
    return MERGE.merge(stated.withColumn("edge_id", F.sha2(F.to_json(F.struct(*_CONNECTS)), 256)))


def _works(rows: DataFrame, jobs: Column, first: Column, last: Column) -> DataFrame:
    """What was read and written, by which jobs and when: of rows that are runs or job events."""

    def named(datasets: str) -> Column:
        return F.transform(
            F.coalesce(F.col(datasets), F.array()),
            lambda one: F.struct(one["namespace"].alias("namespace"), one["name"].alias("name")),
        )

    return rows.select(
        jobs.alias("jobs"),
        named("inputs").alias("inputs"),
        named("outputs").alias("outputs"),
        first.alias("first_seen_at"),
        F.struct(last.alias("event_time"), F.col("run_id")).alias("last_seen"),
    )


def _of_jobs(works: DataFrame) -> DataFrame:
    """What runs and job events read, write and carry."""
    return (
        _alike(works)
        .select(F.explode(_carried()).alias("edge"), "first_seen_at", "last_seen")
        .select("edge.*", "first_seen_at", "last_seen")
    )


@cache
def _carried() -> Column:
    """The edges of a work."""
    inputs, outputs = F.col("inputs"), F.col("outputs")

    def of(job: Column) -> Column:
        read = F.transform(inputs, lambda source: _edge("INPUT", job, source=source))
        written = F.transform(outputs, lambda target: _edge("OUTPUT", job, target=target))
        carried = F.transform(
            inputs,
            lambda source: F.transform(outputs, lambda target: _edge("DATASET", job, source=source, target=target)),
        )
        return F.concat(read, written, F.flatten(carried))

    return F.flatten(F.transform("jobs", of))


def _alike(works: DataFrame) -> DataFrame:
    """One row for all works with the same names: few, however many runs there are."""
    names = ("jobs", "inputs", "outputs")
    return grouped(works, names, F.min("first_seen_at").alias("first_seen_at"), F.max("last_seen").alias("last_seen"))


def _of_columns(observations: DataFrame) -> DataFrame:
    """What the columnLineage of datasets says."""
    facet = facet_named(F.col("facets"), "columnLineage")
    is_whole = reduce(and_, (F.col(f"edge.source_{name}").isNotNull() for name in ("namespace", "name", "field")))
    return (
        observations.where((F.col("role") != "JOB") & facet.isNotNull())
        .select(
            F.explode(_between_columns()).alias("edge"),
            F.col("event_time").alias("first_seen_at"),
            F.struct("event_time", "run_id").alias("last_seen"),
        )
        .where(is_whole)
        .select("edge.*", "first_seen_at", "last_seen")
    )


@cache
def _between_columns() -> Column:
    """The edges of a facet, in its present and its older shape."""
    facet = facet_named(F.col("facets"), "columnLineage")
    target = F.struct("namespace", "name")
    job = F.struct(F.col("job_namespace").alias("namespace"), F.col("job_name").alias("name"))
    lineage = F.from_json(facet, _COLUMN_LINEAGE)

    def from_column(source: Column, field: Column, older: Column | None = None) -> Column:
        stated = F.coalesce(source["transformations"], F.array())
        if older is not None:
            stated = F.concat(stated, older)
        return _edge("COLUMN", job, source, source["field"], target, field, stated)

    of_fields = F.transform(
        F.map_entries(lineage["fields"]),
        lambda one: F.transform(
            F.coalesce(one["value"]["inputFields"], F.array()),
            lambda source: from_column(source, one["key"], _older_transformation(one["value"])),
        ),
    )
    of_dataset = F.transform(lineage["dataset"], lambda source: from_column(source, F.lit(None).cast("string")))
    return F.concat(F.flatten(F.coalesce(of_fields, F.array())), F.coalesce(of_dataset, F.array()))


def write(batch: GraphBatch, writer: BatchWriter) -> None:
    """Merge the batch's edges into the table.

    A run's inputs and outputs may come with different events. So its edges are made of all that `runs` knows by now,
    which only grows.
    """
    touched = batch.events.where(F.col("kind") == "RUN").select("run_id")
    of_runs = writer.rows_of(runs.TABLE, touched, batch.run_ids)
    # Not persisted: curate writes to `runs` meanwhile, and what Spark keeps of a table it reads anew after each write.
    new = edges(of_runs, batch.events, batch.observations).localCheckpoint()
    writer.fold(TABLE, new.select("edge_id"), new, MERGE)


def _edge(
    kind: str,
    job: Column,
    source: Column | None = None,
    source_field: Column | None = None,
    target: Column | None = None,
    target_field: Column | None = None,
    transformations: Column | None = None,
) -> Column:
    nothing = F.lit(None).cast("string")

    def part(thing: Column | None, name: str) -> Column:
        return nothing if thing is None else thing[name]

    ends = (
        *(job["namespace"], job["name"]),
        *(part(source, "namespace"), part(source, "name"), nothing if source_field is None else source_field),
        *(part(target, "namespace"), part(target, "name"), nothing if target_field is None else target_field),
    )
    none = F.array().cast(f"array<{_TRANSFORMATION}>")
    return F.struct(
        F.lit(kind).alias("kind"),
        *(end.alias(name) for end, name in zip(ends, _ENDS, strict=True)),
        (none if transformations is None else transformations).alias("transformations"),
    )


def _older_transformation(field: Column) -> Column:
    """Before a transformation belonged to each source, a field had one for all of them."""
    kind, description = field["transformationType"], field["transformationDescription"]
    stated = F.struct(
        kind.alias("type"),
        F.lit(None).cast("string").alias("subtype"),
        description.alias("description"),
        F.lit(None).cast("boolean").alias("masking"),
    )
    return F.when(F.coalesce(kind, description).isNotNull(), F.array(stated)).otherwise(F.array())
