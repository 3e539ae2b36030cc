"""`jobs`: one row per job, with the facets that its latest events say."""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.stages.graph import GraphBatch
from lineproof.streaming.stages.latest_facets import (
    FACETS,
    KEY,
    OWNERS,
    RULES,
    TAGS,
    described,
    live,
    with_latest_facets,
)
from lineproof.streaming.stages.merge_rules import folded

TABLE = Table(
    name="jobs",
    comment="One row per job, with its facets as the latest events say.",
    key=KEY,
    cluster_by=KEY,
    schema=(
        "namespace STRING NOT NULL COMMENT 'whose job it is'",
        "name STRING NOT NULL COMMENT 'its name there'",
        "description STRING COMMENT 'facet documentation'",
        f"owners {OWNERS} COMMENT 'facet ownership'",
        f"tags {TAGS} COMMENT 'facet tags'",
        "processing_type STRING COMMENT 'BATCH, STREAMING or SERVICE; of the last two, runs need not end'",
        "integration STRING COMMENT 'what it runs on: SPARK, AIRFLOW, DBT, …'",
        "job_type STRING COMMENT 'what it is there: DAG, TASK, QUERY, …'",
        "sql STRING COMMENT 'facet sql'",
        "source_code_url STRING COMMENT 'facet sourceCodeLocation'",
        "freshness_minutes DOUBLE COMMENT 'facet lineproof_sla: how old its result may be'",
        "max_duration_ms BIGINT COMMENT 'facet lineproof_sla: a run that takes longer is overdue'",
        f"facets {FACETS} COMMENT 'all facets, also custom ones: JSON, and the event it comes from'",
        "first_seen_at TIMESTAMP COMMENT 'earliest event that names it'",
        "last_seen_at TIMESTAMP COMMENT 'latest event that names it'",
    ),
)


def jobs(sightings: DataFrame) -> DataFrame:
    """Rows of `jobs` from a batch's sightings."""
    return rows(with_latest_facets(sightings.where(F.col("role") == "JOB")))


def rows(seen: DataFrame) -> DataFrame:
    """Rows of `jobs` from others: any that have the same name are merged."""
    return folded(seen, KEY, RULES).withColumns(_derived())


@cache
def _derived() -> dict[str, Column]:
    """The columns that follow from the facets."""
    facets = F.col("facets")
    kind, sla = live(facets, "jobType"), live(facets, "lineproof_sla")
    minutes = F.get_json_object(sla, "$.maxDurationMinutes").try_cast("double")
    return {
        **described(facets),
        "processing_type": F.upper(F.get_json_object(kind, "$.processingType")),
        "integration": F.get_json_object(kind, "$.integration"),
        "job_type": F.get_json_object(kind, "$.jobType"),
        "sql": F.get_json_object(live(facets, "sql"), "$.query"),
        "source_code_url": F.get_json_object(live(facets, "sourceCodeLocation"), "$.url"),
        "freshness_minutes": F.get_json_object(sla, "$.freshnessMinutes").try_cast("double"),
        "max_duration_ms": (minutes * 60_000).cast("bigint"),
    }


def write(batch: GraphBatch, store: Store) -> None:
    """Merge the batch's jobs into the table."""
    seen = with_latest_facets(batch.sightings.where(F.col("role") == "JOB"))
    store.fold(TABLE, batch.sightings.select(*KEY), seen, rows)
