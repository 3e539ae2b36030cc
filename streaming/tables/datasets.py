"""`datasets`: one row per dataset, with the facets that its latest events say."""

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
from lineproof.streaming.tables.dataset_schemas import FIELDS

_SYMLINKS = "ARRAY<STRUCT<namespace: STRING, name: STRING, type: STRING>>"
_TESTS = "ARRAY<STRUCT<assertion: STRING, success: BOOLEAN, column: STRING>>"

TABLE = Table(
    name="datasets",
    comment="One row per dataset, with its facets as the latest events say.",
    key=KEY,
    cluster_by=KEY,
    schema=(
        "namespace STRING NOT NULL COMMENT 'where the dataset is'",
        "name STRING NOT NULL COMMENT 'its name there'",
        "description STRING COMMENT 'facet documentation'",
        f"owners {OWNERS} COMMENT 'facet ownership'",
        f"tags {TAGS} COMMENT 'facet tags'",
        f"fields {FIELDS} COMMENT 'facet schema; earlier ones are in dataset_schemas'",
        f"symlinks {_SYMLINKS} COMMENT 'other names of the same dataset; dataset_nodes resolves them'",
        "dataset_type STRING COMMENT 'facet datasetType: TABLE, VIEW, FILE, TOPIC, MODEL, …'",
        "source_uri STRING COMMENT 'facet dataSource'",
        "version STRING COMMENT 'facet version'",
        "lifecycle_state STRING COMMENT 'facet lifecycleStateChange: CREATE, DROP, OVERWRITE, …'",
        "gdpr_category STRING COMMENT 'tag gdpr_category'",
        "residency STRING COMMENT 'tag residency'",
        "quality_score DOUBLE COMMENT 'facet lineproof_qualityMetrics'",
        f"tests {_TESTS} COMMENT 'facet dataQualityAssertions'",
        f"facets {FACETS} COMMENT 'all facets, also custom ones: JSON, and the event it comes from'",
        "first_seen_at TIMESTAMP COMMENT 'earliest event that names it'",
        "last_seen_at TIMESTAMP COMMENT 'latest event that names it'",
    ),
)


def datasets(sightings: DataFrame) -> DataFrame:
    """Rows of `datasets` from a batch's sightings."""
    return rows(with_latest_facets(sightings.where(F.col("role") != "JOB")))


def rows(seen: DataFrame) -> DataFrame:
    """Rows of `datasets` from others: any that have the same name are merged."""
    return folded(seen, KEY, RULES).withColumns(_derived())


@cache
def _derived() -> dict[str, Column]:
    """The columns that follow from the facets."""
    facets = F.col("facets")
    description = described(facets)
    identifiers = F.get_json_object(live(facets, "symlinks"), "$.identifiers")
    tests = F.get_json_object(live(facets, "dataQualityAssertions"), "$.assertions")
    change = live(facets, "lifecycleStateChange")
    score = F.get_json_object(live(facets, "lineproof_qualityMetrics"), "$.score")
    return {
        **description,
        "fields": F.from_json(F.get_json_object(live(facets, "schema"), "$.fields"), FIELDS),
        "symlinks": F.from_json(identifiers, _SYMLINKS),
        "dataset_type": F.get_json_object(live(facets, "datasetType"), "$.datasetType"),
        "source_uri": F.get_json_object(live(facets, "dataSource"), "$.uri"),
        "version": F.get_json_object(live(facets, "version"), "$.datasetVersion"),
        "lifecycle_state": F.get_json_object(change, "$.lifecycleStateChange"),
        "gdpr_category": _tag(description["tags"], "gdpr_category"),
        "residency": _tag(description["tags"], "residency"),
        "quality_score": score.try_cast("double"),
        "tests": F.from_json(tests, _TESTS),
    }


def write(batch: GraphBatch, store: Store) -> None:
    """Merge the batch's datasets into the table."""
    seen = with_latest_facets(batch.sightings.where(F.col("role") != "JOB"))
    store.fold(TABLE, batch.sightings.select(*KEY), seen, rows)


def _tag(tags: Column, key: str) -> Column:
    """The value of a tag of the dataset as a whole."""
    found = F.filter(tags, lambda one: (one["key"] == key) & one["field"].isNull())
    return F.try_element_at(found, F.lit(1))["value"]
