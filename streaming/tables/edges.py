"""`edges`: the datasets that a job reads and writes, and the datasets and columns that it makes from others.

One row per edge, for any number of runs, so that lineage queries stay fast after years. Names are those in the events;
the views `job_edges`, `dataset_edges` and `column_edges` have one node for all names of a dataset.
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
_IDENTITY = ("kind", *_ENDS)
MERGE = MergeRules((*EDGES.key, *_IDENTITY), {"transformations": UNION, "first_seen_at": EARLIEST, "last_seen": LATEST})

TABLE = Table(
    contract=EDGES,
    comment="What jobs read and write, and which datasets and columns are made from which. One row per edge.",
    cluster_by=("target_name", "source_name"),
    retention_column="last_seen.event_time",
    constraints={"known_kind": "kind IN ('INPUT', 'OUTPUT', 'DATASET', 'COLUMN')"},
    schema=(
        "edge_id STRING NOT NULL COMMENT 'SHA-256 of kind, job, source and target'",
        "kind STRING NOT NULL COMMENT 'INPUT and OUTPUT of a job, DATASET to dataset, COLUMN to column'",
        "job_namespace STRING COMMENT 'null if a dataset event states the edge'",
        "job_name STRING COMMENT 'null if a dataset event states the edge'",
        "source_namespace STRING COMMENT 'null for an OUTPUT'",
        "source_name STRING COMMENT 'null for an OUTPUT'",
        "source_field STRING COMMENT 'only for a COLUMN'",
        "target_namespace STRING COMMENT 'null for an INPUT'",
        "target_name STRING COMMENT 'null for an INPUT'",
        "target_field STRING COMMENT 'only for a COLUMN; null if the whole target depends on the source'",
        f"transformations ARRAY<{_TRANSFORMATION}> COMMENT 'all transformations that any event states'",
        "first_seen_at TIMESTAMP COMMENT 'time of the earliest event of a run with the edge'",
        "last_seen STRUCT<event_time: TIMESTAMP, run_id: STRING> "
        "COMMENT 'time and run of the latest event; of several at the same time, the greatest run id'",
    ),
)

_COLUMNS = f"ARRAY<STRUCT<namespace: STRING, name: STRING, field: STRING, transformations: ARRAY<{_TRANSFORMATION}>>>"
_COLUMN_LINEAGE = f"""
    fields MAP<STRING, STRUCT<
        inputFields: {_COLUMNS}, transformationDescription: STRING, transformationType: STRING>>,
    dataset {_COLUMNS}
"""


def edges(run_rows: DataFrame, events: DataFrame, observations: DataFrame) -> DataFrame:
    """Rows of `edges` from rows of `runs`, from job events, and from the column lineage of observed datasets."""
    by_runs = _reads_and_writes(run_rows, F.col("jobs"), F.col("first_event_at"), F.col("last_event_at"))
    job = F.array(F.struct(F.col("job_namespace").alias("namespace"), F.col("job_name").alias("name")))
    job_events = events.where(F.col("kind") == "JOB")
    by_job_events = _reads_and_writes(job_events, job, F.col("event_time"), F.col("event_time"))
    stated = _job_edges(by_runs.unionByName(by_job_events)).unionByName(_column_edges(observations))
    return MERGE.merge(stated.withColumn("edge_id", F.sha2(F.to_json(F.struct(*_IDENTITY)), 256)))


def _reads_and_writes(rows: DataFrame, jobs: Column, first: Column, last: Column) -> DataFrame:
    """The inputs and outputs of runs or job events, with their jobs and times."""

    def named(datasets: str) -> Column:
        return F.transform(
            F.coalesce(F.col(datasets), F.array()),
            lambda dataset: F.struct(dataset["namespace"].alias("namespace"), dataset["name"].alias("name")),
        )

    return rows.select(
        jobs.alias("jobs"),
        named("inputs").alias("inputs"),
        named("outputs").alias("outputs"),
        first.alias("first_seen_at"),
        F.struct(last.alias("event_time"), F.col("run_id")).alias("last_seen"),
    )


def _job_edges(reads_and_writes: DataFrame) -> DataFrame:
    """The INPUT, OUTPUT and DATASET edges of runs and job events."""
    return (
        _group_by_names(reads_and_writes)
        .select(F.explode(_edges_of_jobs()).alias("edge"), "first_seen_at", "last_seen")
        .select("edge.*", "first_seen_at", "last_seen")
    )


@cache
def _edges_of_jobs() -> Column:
    """The edges of one row with jobs, inputs and outputs."""
    inputs, outputs = F.col("inputs"), F.col("outputs")

    def edges_of_job(job: Column) -> Column:
        read = F.transform(inputs, lambda source: _edge("INPUT", job, source=source))
        written = F.transform(outputs, lambda target: _edge("OUTPUT", job, target=target))
        between = F.transform(
            inputs,
            lambda source: F.transform(outputs, lambda target: _edge("DATASET", job, source=source, target=target)),
        )
        return F.concat(read, written, F.flatten(between))

    return F.flatten(F.transform("jobs", edges_of_job))


def _group_by_names(reads_and_writes: DataFrame) -> DataFrame:
    """One row per combination of jobs, inputs and outputs: few, for any number of runs."""
    names = ("jobs", "inputs", "outputs")
    return grouped(
        reads_and_writes, names, F.min("first_seen_at").alias("first_seen_at"), F.max("last_seen").alias("last_seen")
    )


def _column_edges(observations: DataFrame) -> DataFrame:
    """The COLUMN edges in the columnLineage facets of datasets."""
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
    """The edges of a columnLineage facet, in its current and its older form."""
    facet = facet_named(F.col("facets"), "columnLineage")
    target = F.struct("namespace", "name")
    job = F.struct(F.col("job_namespace").alias("namespace"), F.col("job_name").alias("name"))
    lineage = F.from_json(facet, _COLUMN_LINEAGE)

    def from_column(source: Column, field: Column, field_transformation: Column | None = None) -> Column:
        stated = F.coalesce(source["transformations"], F.array())
        if field_transformation is not None:
            stated = F.concat(stated, field_transformation)
        return _edge("COLUMN", job, source, source["field"], target, field, stated)

    of_fields = F.transform(
        F.map_entries(lineage["fields"]),
        lambda field: F.transform(
            F.coalesce(field["value"]["inputFields"], F.array()),
            lambda source: from_column(source, field["key"], _field_transformation(field["value"])),
        ),
    )
    of_dataset = F.transform(lineage["dataset"], lambda source: from_column(source, F.lit(None).cast("string")))
    return F.concat(F.flatten(F.coalesce(of_fields, F.array())), F.coalesce(of_dataset, F.array()))


def write(batch: GraphBatch, writer: BatchWriter) -> None:
    """Merge the batch's edges into the table.

    The inputs and outputs of a run can be in different events. So its edges are made from its row in `runs`, which has
    the datasets of all events so far.
    """
    touched = batch.events.where(F.col("kind") == "RUN").select("run_id")
    run_rows = writer.rows_of(runs.TABLE, touched, batch.run_ids)
    # Not persisted: curate writes to `runs` at the same time, and after each write Spark would read it again.
    new = edges(run_rows, batch.events, batch.observations).localCheckpoint()
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
    null = F.lit(None).cast("string")

    def member(struct: Column | None, name: str) -> Column:
        return null if struct is None else struct[name]

    ends = (
        *(job["namespace"], job["name"]),
        *(member(source, "namespace"), member(source, "name"), null if source_field is None else source_field),
        *(member(target, "namespace"), member(target, "name"), null if target_field is None else target_field),
    )
    no_transformations = F.array().cast(f"array<{_TRANSFORMATION}>")
    return F.struct(
        F.lit(kind).alias("kind"),
        *(end.alias(name) for end, name in zip(ends, _ENDS, strict=True)),
        (no_transformations if transformations is None else transformations).alias("transformations"),
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
