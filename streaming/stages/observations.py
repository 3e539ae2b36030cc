"""Observations: a job or dataset with the facets that an event shows it with.

Facets are most of an event, and nearly always the same as in the event before. So the facts of an event have only a
hash of them. Of all events that show the same job or dataset with the same facets, only the first and the last are
parsed again: no more is needed for "first seen", "last seen" and "latest facet".
"""

from functools import cache, reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.defects import UNTRUSTED_FACETS, Defect
from lineproof.streaming.stages.io_id import names
from lineproof.streaming.stages.judge import listed
from lineproof.streaming.stages.merge_rules import grouped
from lineproof.streaming.stages.parse import TEST_FACETS, members, objects

MAX_NAMED_INPUTS = 100
"""Each dataset of an event has a copy of them, so they are few."""

_ENTITY = "namespace STRING, name STRING, facets MAP<STRING, STRING>"
_DATASETS = {
    "inputs": f"ARRAY<STRUCT<{_ENTITY}, inputFacets: MAP<STRING, STRING>>>",
    "outputs": f"ARRAY<STRUCT<{_ENTITY}>>",
}
_EVENT_WITH_FACETS = f"""
    job STRUCT<{_ENTITY}>,
    dataset STRUCT<{_ENTITY}>,
    {", ".join(f"{role} {schema}" for role, schema in _DATASETS.items())}
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
                "members": F.when(_has(Defect.WRONG_TYPE), members(F.col("event"))),
                "last_kept": F.when(_has(Defect.TOO_MANY_DATASETS), _last_names()),
                "has_mappings": F.col("event").rlike('"mappings"'),
            }
        )
        .select(
            *("event_id", "event_time", "run_id", "job_namespace", "job_name", "defects", "last_kept"),
            F.when(F.col("has_mappings"), _names_of_inputs()).alias("named_inputs"),
            F.explode(_entities()).alias("entity"),
        )
    )
    is_named = (F.col("namespace") != "") & (F.col("name") != "")
    columns = (name for name in parsed.columns if name != "entity")
    kept = parsed.select("entity.*", *columns).where(is_named & _is_kept())
    return kept.withColumn("facets", _trusted(F.col("facets"), F.col("defects"))).drop("defects", "last_kept")


def _trusted(facets: Column, defects: Column) -> Column:
    """The facets without those that do not count because of a defect of the event."""

    def is_trusted(facet: Column) -> Column:
        return reduce(
            and_,
            (
                (facet["name"] != name) | ~F.arrays_overlap(defects, listed(codes))
                for name, codes in UNTRUSTED_FACETS.items()
            ),
        )

    return F.when(defects.isNull(), facets).otherwise(F.filter(facets, is_trusted))


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
    return tuple(F.arrays_overlap("defects", listed(codes)) for codes in UNTRUSTED_FACETS.values())


@cache
def _names_of_inputs() -> Column:
    """The inputs of an event, for column mappings that name a table without its namespace."""
    names = F.transform(
        _datasets("inputs"),
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
            _with_role("INPUT", _datasets("inputs")),
            _with_role("OUTPUT", _datasets("outputs")),
        )
    )


def _datasets(role: str) -> Column:
    """The inputs or outputs of a parsed event that are objects."""
    return F.coalesce(F.col("event")[role], objects(F.col("members"), role, _DATASETS[role]))


def _last_names() -> Column:
    """The last one by name of the inputs and outputs that are kept. What is beyond `limits.datasets` comes after it."""
    return F.struct(*(F.array_max(names(F.col(role))).alias(role) for role in _DATASETS))


def _is_kept() -> Column:
    """Whether it is not over the limit. After the explode, because a lambda computes the last name for each element."""
    role, name, last = F.col("role"), F.struct("namespace", "name"), F.col("last_kept")
    is_kept = F.when(role == "INPUT", name <= last["inputs"]).when(role == "OUTPUT", name <= last["outputs"])
    return F.coalesce(is_kept, F.lit(True))


def _has(defect: Defect) -> Column:
    return F.coalesce(F.array_contains("defects", defect.value), F.lit(False))


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
