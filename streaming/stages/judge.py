"""Judge a record by its facts: the first reason why it is not an event, and what is wrong with it if it is one."""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineproof.schemas.defects import FATAL_IF_STRICT, Defect
from lineproof.schemas.limits import Limits
from lineproof.schemas.openlineage import EVENT_TYPES
from lineproof.schemas.reasons import Reason
from lineproof.streaming.stages import extract, parse
from lineproof.streaming.stages.values import is_blank, is_local_time, is_uuid, until_last_time

ENVELOPE_FACTS = ("event_id", "kind", "event_type", "event_time", "run_id", "job_namespace", "job_name")
"""The facts that an envelope repeats."""

_MIN_SYMLINK, _MIN_COLUMN, _MIN_FACET, _MIN_DATASET = 27, 10, 7, 27
"""The fewest bytes of each in JSON: they are counted only where there could be too many."""
_SOURCE_COLUMN = r'"(?:field|input)"\s*:'


def event_fault(stated_time: Column) -> Column:
    """The first reason why a JSON document is not an event; null if it is one. All other columns are facts."""
    kind = F.col("kind")
    return (
        F.when(kind.isNull(), Reason.NOT_AN_EVENT.value)
        .when(is_blank(stated_time), Reason.MISSING_EVENT_TIME.value)
        .when(F.col("event_time").isNull(), Reason.BAD_EVENT_TIME.value)
        .when((kind == "RUN") & is_blank(F.col("run_id")), Reason.BAD_RUN_ID.value)
        .when(kind.isin("RUN", "JOB") & _is_nameless("job"), Reason.MISSING_JOB.value)
        .when((kind == "DATASET") & _is_nameless("dataset"), Reason.MISSING_DATASET.value)
    )


def envelope_fault(envelope: Column) -> Column:
    """The reason why an envelope does not belong to its payload; null if it does, or if there is none."""
    stated = {name: envelope[name] for name in ENVELOPE_FACTS}
    stated["event_time"] = until_last_time(envelope["event_time"])
    agrees = reduce(and_, (fact.eqNullSafe(F.col(name)) for name, fact in stated.items()))
    return F.when(envelope.isNotNull() & ~agrees, Reason.ENVELOPE_DISAGREES.value)


def strict_fault(defects: Column) -> Column:
    """The reason that the first fatal defect has with `tolerance: strict`."""
    reasons = (
        F.when(F.array_contains(defects, defect.value), reason.value) for defect, reason in FATAL_IF_STRICT.items()
    )
    return F.coalesce(*reasons)


def has_duplicates(event: Column) -> Column:
    """Whether the facets of the run, the job or a dataset have the same key twice.

    These are the objects that a parsed event has as maps. Of equal keys in other objects, the parser takes the last one
    without a word; to see them takes a second parser, which takes as long as the first one.
    """
    run = F.coalesce(parse.has_duplicates(F.map_keys(event["run"]["facets"])), F.lit(False))
    facets = _in_any_facets(event, lambda facets: parse.has_duplicates(F.map_keys(facets)))
    return run | facets


def could_exceed(text: Column, limits: Limits) -> Column:
    """Whether an event is long enough to exceed a limit. Most are not."""
    shortest = min(
        *(limits.symlinks * _MIN_SYMLINK, limits.columns * _MIN_COLUMN),
        *(limits.facets * _MIN_FACET, limits.datasets * _MIN_DATASET),
    )
    return F.octet_length(text) > shortest


def defects_of_size(event: Column, limits: Limits) -> dict[Defect, Column]:
    """What the event has too many of."""

    def too_many_columns(facets: Column) -> Column:
        text = facets["columnLineage"]
        is_long = F.octet_length(text) > limits.columns * _MIN_COLUMN
        return is_long & (F.regexp_count(text, F.lit(_SOURCE_COLUMN)) > limits.columns)

    def too_many_symlinks(facets: Column) -> Column:
        text = facets["symlinks"]
        is_long = F.octet_length(text) > limits.symlinks * _MIN_SYMLINK
        return is_long & (F.json_array_length(F.get_json_object(text, "$.identifiers")) > limits.symlinks)

    both = [event[role] for role in extract.ROLES]
    return {
        Defect.TOO_MANY_FACETS: _in_any_facets(event, lambda facets: F.size(F.map_keys(facets)) > limits.facets),
        Defect.TOO_MANY_COLUMNS: _in_any_facets(event, too_many_columns),
        Defect.TOO_MANY_SYMLINKS: _in_any_facets(event, too_many_symlinks),
        Defect.TOO_MANY_DATASETS: reduce(or_, (_or_false(F.size(each) > limits.datasets) for each in both)),
    }


def defects_of_event(event: Column, stated_counts: Column) -> dict[Defect, Column]:
    """What is wrong with the event itself. All other columns are facts."""
    stated_type, certified_run = event["eventType"], F.col("certificate")["run_id"]
    return {
        Defect.NAMELESS_DATASET: reduce(
            or_, (_or_false(F.exists(event[role], extract.is_nameless)) for role in extract.ROLES)
        ),
        Defect.MISSING_SCHEMA_URL: is_blank(F.col("schema_url")),
        Defect.MISSING_PRODUCER: is_blank(F.col("producer")),
        Defect.RUN_ID_NOT_UUID: _or_false(~is_uuid(F.col("run_id"))),
        Defect.EVENT_TIME_WITHOUT_ZONE: is_local_time(event["eventTime"]),
        Defect.UNKNOWN_EVENT_TYPE: (F.col("kind") == "RUN") & _or_false(~stated_type.isin(*EVENT_TYPES)),
        Defect.BAD_COUNT: extract.readable_counts() < stated_counts,
        Defect.FOREIGN_CERTIFICATE: _or_false(F.lower(certified_run) != F.lower("run_id")),
    }


def listed(defects: Iterable[Defect]) -> Column:
    """An array of the codes of these defects."""
    return F.array(*(F.lit(defect.value) for defect in defects))


def codes(defects: Mapping[Defect, Column]) -> Column:
    """The codes of the defects whose condition is true."""
    return F.array_compact(F.array(*(F.when(is_there, defect.value) for defect, is_there in defects.items())))


def _in_any_facets(event: Column, condition: Callable[[Column], Column]) -> Column:
    """Whether the condition is true for the facets of the job or of any dataset."""
    of_lists = (
        F.exists(event[role], lambda dataset: _or_false(condition(dataset["facets"]))) for role in extract.ROLES
    )
    of_one = (condition(event[entity]["facets"]) for entity in ("job", "dataset"))
    return reduce(or_, map(_or_false, (*of_one, *of_lists)))


def _or_false(condition: Column) -> Column:
    return F.coalesce(condition, F.lit(False))


def _is_nameless(entity: str) -> Column:
    return is_blank(F.col(f"{entity}_namespace")) | is_blank(F.col(f"{entity}_name"))
