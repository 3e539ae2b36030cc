"""The facets of a job or a dataset, each from the latest event that has it.

A facet replaces the whole earlier facet of the same name. A facet with `_deleted` stays as a tombstone, so that an
older facet that arrives late does not bring it back.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.streaming.stages.merge_rules import EARLIEST, LATEST, Rule, latest_by

FACETS = "ARRAY<STRUCT<name: STRING, event_time: TIMESTAMP, event_id: STRING, facet: STRING>>"
KEY = ("namespace", "name")
RULES: dict[str, Rule] = {
    "first_seen_at": EARLIEST,
    "last_seen_at": LATEST,
    "facets": latest_by("name"),
}

OWNERS = "ARRAY<STRUCT<name: STRING, type: STRING>>"
TAGS = "ARRAY<STRUCT<key: STRING, value: STRING, source: STRING, field: STRING>>"


def with_latest_facets(observations: DataFrame) -> DataFrame:
    """A row per job or dataset, with the columns of `RULES`.

    Grouped by facet first, because an entity can have very many versions of a facet.
    """
    time, facets = F.col("event_time"), F.col("facets")
    by_facet = (
        observations.select(*KEY, "event_time", "event_id", F.explode_outer("facets").alias("entry"))
        .groupBy(*KEY, F.col("entry.name").alias("facet_name"))
        .agg(
            F.min(time).alias("first_seen_at"),
            F.max(time).alias("last_seen_at"),
            F.max(F.struct(time, F.col("event_id"), F.col("entry.facet").alias("facet"))).alias("latest"),
        )
    )
    facet = F.struct(F.col("facet_name").alias("name"), F.col("latest.*"))
    return (
        by_facet.groupBy(*KEY)
        .agg(
            F.min("first_seen_at").alias("first_seen_at"),
            F.max("last_seen_at").alias("last_seen_at"),
            F.collect_list(F.when(F.col("facet_name").isNotNull(), facet)).alias("facets"),
        )
        .withColumn("facets", F.array_sort(facets))
    )


def description_columns(facets: Column) -> dict[str, Column]:
    """The columns that jobs and datasets have in common, from their facets."""
    return {
        "description": F.get_json_object(live_facet(facets, "documentation"), "$.description"),
        "owners": F.from_json(F.get_json_object(live_facet(facets, "ownership"), "$.owners"), OWNERS),
        "tags": F.from_json(F.get_json_object(live_facet(facets, "tags"), "$.tags"), TAGS),
    }


def live_facet(facets: Column, name: str) -> Column:
    """The JSON of a facet; null if there is none, or if it was deleted."""
    text = facet_named(facets, name)
    return F.when(~F.get_json_object(text, "$._deleted").eqNullSafe(F.lit("true")), text)


def facet_named(facets: Column, name: str) -> Column:
    """The JSON of a facet; null if there is none."""
    return F.try_element_at(F.filter(facets, lambda facet: facet["name"] == name), F.lit(1))["facet"]
