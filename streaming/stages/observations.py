"""Where a batch saw jobs and datasets, with the facets they had there.

Facets are most of an event, and nearly always the same as the last time. So an event's facts have only a hash of them.
Here, of all events that show a job or dataset with the same facets, the first and the last are opened again: that is
all that facts of the form "since when", "until when" and "what last" can depend on.
"""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.streaming.stages.facts import TEST_FACETS
from lineproof.streaming.stages.merge_rules import grouped

_THING = "namespace STRING, name STRING, facets MAP<STRING, STRING>"
_FACETS = f"""
    job STRUCT<{_THING}>,
    dataset STRUCT<{_THING}>,
    inputs ARRAY<STRUCT<{_THING}, inputFacets: MAP<STRING, STRING>>>,
    outputs ARRAY<STRUCT<{_THING}>>
"""


def sightings(events: DataFrame, whole: DataFrame) -> DataFrame:
    """A row per job and dataset of every telling event: `role` (JOB, INPUT, OUTPUT, DATASET), name and `facets`.

    `whole` are the same events with their JSON in `event`.
    """
    opened = (
        whole.join(F.broadcast(_telling(events)), "event_id", "left_semi")
        .withColumn("event", F.from_json("event", _FACETS))
        .select("event_id", "event_time", "run_id", "job_namespace", "job_name", F.explode(_things()).alias("thing"))
    )
    return opened.select("thing.*", *(name for name in opened.columns if name != "thing"))


def _telling(events: DataFrame) -> DataFrame:
    """The ids of the first and last event with the same facets of the same thing."""
    version = F.struct("event_time", "event_id")
    seen = events.select(F.explode(_hashes()).alias("hash"), version.alias("version"))
    ends = grouped(seen, ["hash"], F.min("version").alias("first"), F.max("version").alias("last"))
    return ends.select(F.explode(F.array("first.event_id", "last.event_id")).alias("event_id")).distinct()


@cache
def _hashes() -> Column:
    """A number for each thing an event shows."""

    def of_datasets(role: str, datasets: str) -> Column:
        return F.transform(
            F.coalesce(F.col(datasets), F.array()),
            lambda one: _hashed(role, one["namespace"], one["name"], one["facets_hash"]),
        )

    return F.concat(
        F.array(
            _hashed("JOB", F.col("job_facets_hash")),
            _hashed("DATASET", F.col("dataset_namespace"), F.col("dataset_name"), F.col("dataset_facets_hash")),
        ),
        of_datasets("INPUT", "inputs"),
        of_datasets("OUTPUT", "outputs"),
    )


def _hashed(role: str, *parts: Column) -> Column:
    """A number for a thing in a role of a job, with its facets."""
    return F.xxhash64(F.lit(role), F.col("job_namespace"), F.col("job_name"), *parts)


@cache
def _things() -> Column:
    event = F.col("event")
    one_job = F.when(event["job"].isNotNull(), F.array(event["job"]))
    one_dataset = F.when(event["dataset"].isNotNull(), F.array(event["dataset"]))
    return F.flatten(
        F.array(
            _seen("JOB", one_job),
            _seen("DATASET", one_dataset),
            _seen("INPUT", event["inputs"]),
            _seen("OUTPUT", event["outputs"]),
        )
    )


def _seen(role: str, things: Column) -> Column:
    def seen(thing: Column) -> Column:
        facets = _entries(thing["facets"])
        if role == "INPUT":
            tests = F.filter(_entries(thing["inputFacets"]), lambda one: one["name"].isin(*TEST_FACETS))
            facets = F.concat(facets, tests)
        return F.struct(
            F.lit(role).alias("role"),
            thing["namespace"].alias("namespace"),
            thing["name"].alias("name"),
            facets.alias("facets"),
        )

    return F.transform(F.coalesce(things, F.array()), seen)


def _entries(facets: Column) -> Column:
    entries = F.map_entries(F.coalesce(facets, F.create_map().cast("map<string,string>")))
    return F.transform(entries, lambda one: F.struct(one["key"].alias("name"), one["value"].alias("facet")))
