"""The facets of a job or a dataset, each as the latest event that has it says.

A facet is replaced as a whole by the next one of its name. One with `_deleted` stays as the mark that it is gone: an
older one that comes late must not bring it back.
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
    """A row per name: the columns of `RULES`.

    Facet by facet, because a name can be seen with very many versions of one.
    """
    time, facets = F.col("event_time"), F.col("facets")
    by_facet = (
        observations.select(*KEY, "event_time", "event_id", F.explode_outer("facets").alias("one"))
        .groupBy(*KEY, F.col("one.name").alias("facet_name"))
        .agg(
            F.min(time).alias("first_seen_at"),
            F.max(time).alias("last_seen_at"),
            F.max(F.struct(time, F.col("event_id"), F.col("one.facet").alias("facet"))).alias("latest"),
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


def described(facets: Column) -> dict[str, Column]:
    """What jobs and datasets both are described by."""
    return {
        "description": F.get_json_object(live(facets, "documentation"), "$.description"),
        "owners": F.from_json(F.get_json_object(live(facets, "ownership"), "$.owners"), OWNERS),
        "tags": F.from_json(F.get_json_object(live(facets, "tags"), "$.tags"), TAGS),
    }


def live(facets: Column, name: str) -> Column:
    """The JSON of one facet; null where there is none, or it was deleted."""
    text = facet_named(facets, name)
    return F.when(~F.get_json_object(text, "$._deleted").eqNullSafe(F.lit("true")), text)


def facet_named(facets: Column, name: str) -> Column:
    """The JSON of one facet of many; null where there is none."""
    return F.try_element_at(F.filter(facets, lambda one: one["name"] == name), F.lit(1))["facet"]
