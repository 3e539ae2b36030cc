"""`datasets`: one row per dataset, with the latest version of each facet."""

from functools import cache, partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.limits import Limits
from lineproof.schemas.tables import DATASETS
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
from lineproof.streaming.tables.dataset_schemas import FIELDS

SYMLINKS = "ARRAY<STRUCT<namespace: STRING, name: STRING, type: STRING>>"
_TESTS = "ARRAY<STRUCT<assertion: STRING, success: BOOLEAN, column: STRING>>"

TABLE = Table(
    contract=DATASETS,
    comment="One row per dataset, with the latest version of each facet.",
    cluster_by=KEY,
    schema=(
        "namespace STRING NOT NULL COMMENT 'namespace of the dataset'",
        "name STRING NOT NULL COMMENT 'name of the dataset'",
        "description STRING COMMENT 'facet documentation'",
        f"owners {OWNERS} COMMENT 'facet ownership'",
        f"tags {TAGS} COMMENT 'facet tags'",
        f"fields {FIELDS} COMMENT 'facet schema; earlier schemas are in dataset_schemas'",
        f"symlinks {SYMLINKS} COMMENT 'other names of the same dataset; dataset_nodes resolves them'",
        "dataset_type STRING COMMENT 'facet datasetType: TABLE, VIEW, FILE, TOPIC, MODEL, …'",
        "source_uri STRING COMMENT 'facet dataSource'",
        "version STRING COMMENT 'facet version'",
        "lifecycle_state STRING COMMENT 'facet lifecycleStateChange: CREATE, DROP, OVERWRITE, …'",
        "gdpr_category STRING COMMENT 'tag gdpr_category'",
        "residency STRING COMMENT 'tag residency'",
        "quality_score DOUBLE COMMENT 'facet lineproof_qualityMetrics'",
        f"tests {_TESTS} COMMENT 'facet dataQualityAssertions'",
        f"facets {FACETS} COMMENT 'all facets, custom ones included: the JSON, and the event that states it'",
        "first_seen_at TIMESTAMP COMMENT 'earliest event that names it'",
        "last_seen_at TIMESTAMP COMMENT 'hour (UTC) of the latest event that names it; the exact time is in job_edges'",
    ),
)


MODEL_FACETS = ("lineproof_llmModel", "llm")
"""Facets of a language model that is an input."""


@cache
def _derived(limits: Limits) -> dict[str, Column]:
    """The columns that are computed from the facets."""
    facets = F.col("facets")
    description = description_columns(facets)
    identifiers = F.get_json_object(live_facet(facets, "symlinks"), "$.identifiers")
    tests = F.get_json_object(live_facet(facets, "dataQualityAssertions"), "$.assertions")
    change = live_facet(facets, "lifecycleStateChange")
    score = F.get_json_object(live_facet(facets, "lineproof_qualityMetrics"), "$.score")
    return {
        **description,
        "fields": F.from_json(F.get_json_object(live_facet(facets, "schema"), "$.fields"), FIELDS),
        "symlinks": _limited(F.from_json(identifiers, SYMLINKS), limits.symlinks),
        "dataset_type": F.coalesce(
            F.get_json_object(live_facet(facets, "datasetType"), "$.datasetType"),
            F.when(F.coalesce(*(live_facet(facets, name) for name in MODEL_FACETS)).isNotNull(), "MODEL"),
        ),
        "source_uri": F.get_json_object(live_facet(facets, "dataSource"), "$.uri"),
        "version": F.get_json_object(live_facet(facets, "version"), "$.datasetVersion"),
        "lifecycle_state": F.get_json_object(change, "$.lifecycleStateChange"),
        "gdpr_category": _tag(description["tags"], "gdpr_category"),
        "residency": _tag(description["tags"], "residency"),
        "quality_score": score.try_cast("double"),
        "tests": F.from_json(tests, _TESTS),
    }


@cache
def merge_rules(limits: Limits) -> MergeRules:
    """How rows of the same dataset become one."""
    return MergeRules(KEY, rules(limits), partial(_derived, limits))


def write(batch: GraphBatch, writer: BatchWriter) -> None:
    """Merge the batch's datasets into the table."""
    new = observed_datasets(batch.observations)
    writer.fold(TABLE, batch.observations.select(*KEY), new, merge_rules(batch.limits))


def observed_datasets(observations: DataFrame) -> DataFrame:
    """The datasets of a batch, as its events alone describe them."""
    return with_latest_facets(observations.where(F.col("role") != "JOB"))


def _limited(symlinks: Column, at_most: int) -> Column:
    """As they are stated; of more than `at_most`, the smallest."""
    smallest = F.slice(F.array_sort(F.array_distinct(symlinks)), 1, at_most)
    return F.when(F.size(symlinks) <= at_most, symlinks).otherwise(smallest)


def _tag(tags: Column, key: str) -> Column:
    """The value of a tag that belongs to the dataset, and not to one of its fields."""
    found = F.filter(tags, lambda tag: (tag["key"] == key) & tag["field"].isNull())
    return F.try_element_at(found, F.lit(1))["value"]
