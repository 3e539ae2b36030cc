"""The facets of a job or a dataset, each from the latest event that has it.

A facet replaces the whole earlier facet of the same name. A facet with `_deleted` stays as a tombstone, so that an
older facet that arrives late does not bring it back.
"""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.limits import Limits
from lineproof.streaming.stages.merge_rules import EARLIEST, LATEST, ArrayRule, Rule, last_of_each

FACETS = "ARRAY<STRUCT<name: STRING, event_time: TIMESTAMP, event_id: STRING, facet: STRING>>"
KEY = ("namespace", "name")
READ_FACETS = (
    *("documentation", "ownership", "tags", "jobType", "sql", "sourceCodeLocation", "lineproof_sla", "schema"),
    *("symlinks", "datasetType", "dataSource", "version", "lifecycleStateChange", "dataQualityAssertions"),
    *("lineproof_qualityMetrics", "lineproof_llmModel", "llm", "columnLineage"),
)
"""The facets that columns are made from. They are kept in any case: no number of other facets displaces them."""

OWNERS = "ARRAY<STRUCT<name: STRING, type: STRING>>"
TAGS = "ARRAY<STRUCT<key: STRING, value: STRING, source: STRING, field: STRING>>"


@cache
def rules(limits: Limits) -> dict[str, Rule]:
    """The rules of the columns that jobs and datasets have in common."""
    return {"first_seen_at": EARLIEST, "last_seen_at": LATEST, "facets": _latest_facets(limits.facets)}


def _latest_facets(at_most: int) -> Rule:
    """The latest version of each facet; of more than `at_most` facets, those that are read and the smallest names."""

    def merge(ordered: Column) -> Column:
        latest = last_of_each(("name",), ordered)
        read = F.filter(latest, lambda facet: facet["name"].isin(*READ_FACETS))
        others = F.filter(latest, lambda facet: ~facet["name"].isin(*READ_FACETS))
        limited = F.array_sort(F.concat(read, F.slice(others, 1, at_most)))
        return F.when(F.size(ordered) <= at_most, latest).otherwise(limited)

    return ArrayRule(merge)


def hour_of(time: Column) -> Column:
    """The hour in UTC in which a time lies.

    Times that advance with every event are stored like this, so that a row does not change with every batch, and its
    file need not be rewritten. The hour of the latest time is the latest hour, in any order.
    """
    seconds = F.unix_seconds(time)
    return F.timestamp_seconds(seconds - F.pmod(seconds, F.lit(3600)))


def with_latest_facets(observations: DataFrame) -> DataFrame:
    """A row per job or dataset, with the columns of `rules`.

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
            hour_of(F.max("last_seen_at")).alias("last_seen_at"),
            F.collect_list(F.when(F.col("facet_name").isNotNull(), facet)).alias("facets"),
        )
        .withColumn("facets", F.array_sort(facets))
    )


def description_columns(facets: Column) -> dict[str, Column]:
    """The columns that jobs and datasets have in common, from their facets."""
    return {
        "description": _description(live_facet(facets, "documentation")),
        "owners": F.from_json(F.get_json_object(live_facet(facets, "ownership"), "$.owners"), OWNERS),
        "tags": F.from_json(F.get_json_object(live_facet(facets, "tags"), "$.tags"), TAGS),
    }


def _description(documentation: Column) -> Column:
    """The text of the facet; some producers write the text alone, or a link."""
    members = (F.get_json_object(documentation, f"$.{name}") for name in ("description", "url"))
    return F.coalesce(*members, F.when(~documentation.startswith("{"), documentation))


def live_facet(facets: Column, name: str) -> Column:
    """The JSON of a facet; null if there is none, or if it was deleted."""
    text = facet_named(facets, name)
    return F.when(~F.get_json_object(text, "$._deleted").eqNullSafe(F.lit("true")), text)


def facet_named(facets: Column, name: str) -> Column:
    """The JSON of a facet; null if there is none."""
    return F.try_element_at(F.filter(facets, lambda facet: facet["name"] == name), F.lit(1))["facet"]
