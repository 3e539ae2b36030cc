"""Observations: a job or dataset with the facets that an event shows it with.

Facets are most of an event, and nearly always the same as in the event before. So the facts of an event have only a
hash of them. Of all events that show the same job or dataset with the same facets, only the first and the last are
parsed again: no more is needed for "first seen", "last seen" and "latest facet".
"""

from collections.abc import Iterable
from functools import cache, reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.defects import UNTRUSTED_FACETS, Defect
from lineproof.streaming.stages.merge_rules import grouped
from lineproof.streaming.stages.parse import TEST_FACETS

MAX_NAMED_INPUTS = 100
"""Each dataset of an event has a copy of them, so they are few."""

_ENTITY = "namespace STRING, name STRING, facets MAP<STRING, STRING>"
_EVENT_WITH_FACETS = f"""
    job STRUCT<{_ENTITY}>,
    dataset STRUCT<{_ENTITY}>,
    inputs ARRAY<STRUCT<{_ENTITY}, inputFacets: MAP<STRING, STRING>>>,
    outputs ARRAY<STRUCT<{_ENTITY}>>
"""


def observations(events: DataFrame, events_with_json: DataFrame) -> DataFrame:
    """A row per job and dataset of every first or last event: `role` (JOB, INPUT, OUTPUT, DATASET), name and `facets`.

    `events_with_json` are the same events with their JSON in `event`.
    """
    parsed = (
        events_with_json.join(F.broadcast(_first_and_last_events(events)), "event_id", "left_semi")
        .withColumns(
            {
                "event": F.from_json("event", _EVENT_WITH_FACETS),
                "has_mappings": F.col("event").rlike('"mappings"'),
            }
        )
        .select(
            *("event_id", "event_time", "run_id", "job_namespace", "job_name", "defects"),
            F.when(F.col("has_mappings"), _names_of_inputs()).alias("named_inputs"),
            F.explode(_entities()).alias("entity"),
        )
    )
    is_named = (F.col("namespace") != "") & (F.col("name") != "")
    columns = (name for name in parsed.columns if name not in ("entity", "defects"))
    named = parsed.select("entity.*", *columns, "defects").where(is_named)
    return named.withColumn("facets", _trusted(F.col("facets"), F.col("defects"))).drop("defects")


def _trusted(facets: Column, defects: Column) -> Column:
    """The facets without those that do not count because of a defect of the event."""

    def is_trusted(facet: Column) -> Column:
        return reduce(
            and_,
            (
                (facet["name"] != name) | ~F.arrays_overlap(defects, _codes(codes))
                for name, codes in UNTRUSTED_FACETS.items()
            ),
        )

    return F.when(defects.isNull(), facets).otherwise(F.filter(facets, is_trusted))


def _codes(defects: Iterable[Defect]) -> Column:
    return F.array(*(F.lit(defect.value) for defect in defects))


def _first_and_last_events(events: DataFrame) -> DataFrame:
    """The ids of the first and the last event that show the same job or dataset with the same facets."""
    version = F.struct("event_time", "event_id").alias("version")
    hashes = events.select(F.explode(_entity_hashes()).alias("hash"), version)
    ends = grouped(hashes, ["hash"], F.min("version").alias("first"), F.max("version").alias("last"))
    event_ids = F.array("first.event_id", "last.event_id")
    return ends.select(F.explode(event_ids).alias("event_id")).distinct()


@cache
def _entity_hashes() -> Column:
    """A hash for each job and dataset of an event, with its role, its job and its facets."""

    def dataset_hashes(role: str, datasets: str) -> Column:
        return F.transform(
            F.coalesce(F.col(datasets), F.array()),
            lambda dataset: _hash(role, dataset["namespace"], dataset["name"], dataset["facets_hash"]),
        )

    return F.concat(
        F.array(
            _hash("JOB", F.col("job_facets_hash")),
            _hash("DATASET", F.col("dataset_namespace"), F.col("dataset_name"), F.col("dataset_facets_hash")),
        ),
        dataset_hashes("INPUT", "inputs"),
        dataset_hashes("OUTPUT", "outputs"),
    )


def _hash(role: str, *parts: Column) -> Column:
    return F.xxhash64(F.lit(role), F.col("job_namespace"), F.col("job_name"), *parts, *_untrusted())


@cache
def _untrusted() -> tuple[Column, ...]:
    """Whether facets of the event do not count: such an event does not stand for others with the same facets."""
    return tuple(F.arrays_overlap("defects", _codes(codes)) for codes in UNTRUSTED_FACETS.values())


@cache
def _names_of_inputs() -> Column:
    """The inputs of an event, for column mappings that name a table without its namespace."""
    names = F.transform(
        F.col("event")["inputs"],
        lambda dataset: F.struct(dataset["namespace"].alias("namespace"), dataset["name"].alias("name")),
    )
    return F.slice(names, 1, MAX_NAMED_INPUTS)


@cache
def _entities() -> Column:
    """The jobs and datasets of a parsed event."""
    event = F.col("event")
    job = F.when(event["job"].isNotNull(), F.array(event["job"]))
    dataset = F.when(event["dataset"].isNotNull(), F.array(event["dataset"]))
    return F.flatten(
        F.array(
            _with_role("JOB", job),
            _with_role("DATASET", dataset),
            _with_role("INPUT", event["inputs"]),
            _with_role("OUTPUT", event["outputs"]),
        )
    )


def _with_role(role: str, entities: Column) -> Column:
    def with_role(entity: Column) -> Column:
        facets = _facets(entity["facets"])
        if role == "INPUT":
            tests = F.filter(_facets(entity["inputFacets"]), lambda facet: facet["name"].isin(*TEST_FACETS))
            facets = F.concat(facets, tests)
        return F.struct(
            F.lit(role).alias("role"),
            entity["namespace"].alias("namespace"),
            entity["name"].alias("name"),
            facets.alias("facets"),
        )

    return F.transform(F.coalesce(entities, F.array()), with_role)


def _facets(by_name: Column) -> Column:
    """A map of facets as an array of `name` and `facet`."""
    entries = F.map_entries(F.coalesce(by_name, F.create_map().cast("map<string,string>")))
    return F.transform(entries, lambda entry: F.struct(entry["key"].alias("name"), entry["value"].alias("facet")))
