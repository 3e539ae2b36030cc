"""`jobs`: one row per job, with the latest version of each facet."""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.limits import Limits
from lineproof.schemas.tables import JOBS
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.graph import GraphBatch
from lineproof.streaming.stages.latest_facets import (
    FACETS,
    KEY,
    OWNERS,
    TAGS,
    description_columns,
    live_facet,
    rules,
    with_latest_facets,
)
from lineproof.streaming.stages.merge_rules import MergeRules

TABLE = Table(
    contract=JOBS,
    comment="One row per job, with the latest version of each facet.",
    cluster_by=KEY,
    schema=(
        "namespace STRING NOT NULL COMMENT 'namespace of the job'",
        "name STRING NOT NULL COMMENT 'name of the job'",
        "description STRING COMMENT 'facet documentation'",
        f"owners {OWNERS} COMMENT 'facet ownership'",
        f"tags {TAGS} COMMENT 'facet tags'",
        "processing_type STRING COMMENT 'BATCH, STREAMING or SERVICE; runs of the last two need not end'",
        "integration STRING COMMENT 'the tool that runs it: SPARK, AIRFLOW, DBT, …'",
        "job_type STRING COMMENT 'its type in that tool: DAG, TASK, QUERY, …'",
        "sql STRING COMMENT 'facet sql'",
        "source_code_url STRING COMMENT 'facet sourceCodeLocation'",
        "freshness_minutes DOUBLE COMMENT 'facet lineproof_sla: how old its result may be'",
        "max_duration_ms BIGINT COMMENT 'facet lineproof_sla: a run that takes longer is overdue'",
        f"facets {FACETS} COMMENT 'all facets, custom ones included: the JSON, and the event that states it'",
        "first_seen_at TIMESTAMP COMMENT 'earliest event that names it'",
        "last_seen_at TIMESTAMP COMMENT 'hour (UTC) of the latest event that names it; the exact time is in runs'",
    ),
)


@cache
def _derived() -> dict[str, Column]:
    """The columns that are computed from the facets."""
    facets = F.col("facets")
    kind, sla = live_facet(facets, "jobType"), live_facet(facets, "lineproof_sla")
    minutes = F.get_json_object(sla, "$.maxDurationMinutes").try_cast("double")
    return {
        **description_columns(facets),
        "processing_type": F.upper(F.get_json_object(kind, "$.processingType")),
        "integration": F.get_json_object(kind, "$.integration"),
        "job_type": F.get_json_object(kind, "$.jobType"),
        "sql": F.get_json_object(live_facet(facets, "sql"), "$.query"),
        "source_code_url": F.get_json_object(live_facet(facets, "sourceCodeLocation"), "$.url"),
        "freshness_minutes": F.get_json_object(sla, "$.freshnessMinutes").try_cast("double"),
        "max_duration_ms": (minutes * 60_000).try_cast("bigint"),
    }


@cache
def merge_rules(limits: Limits) -> MergeRules:
    """How rows of the same job become one."""
    return MergeRules(KEY, rules(limits), _derived)


def write(batch: GraphBatch, writer: BatchWriter) -> None:
    """Merge the batch's jobs into the table."""
    new = observed_jobs(batch.observations)
    writer.fold(TABLE, batch.observations.select(*KEY), new, merge_rules(batch.limits))


def observed_jobs(observations: DataFrame) -> DataFrame:
    """The jobs of a batch, as its events alone describe them."""
    return with_latest_facets(observations.where(F.col("role") == "JOB"))
