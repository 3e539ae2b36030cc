"""Judge a record by its facts: the first reason why it is not an event, or why its envelope does not belong to it."""

from functools import reduce
from operator import and_

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineproof.schemas.openlineage import EVENT_TYPES
from lineproof.schemas.reasons import Reason
from lineproof.streaming.stages import extract

ENVELOPE_FACTS = ("event_id", "kind", "event_type", "event_time", "run_id", "job_namespace", "job_name")
"""The facts that an envelope repeats."""

_UUID = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"


def event_fault(*, stated_time: Column, has_wrong_type: Column, stated_counts: Column) -> Column:
    """The first reason why a JSON document is not an event; null if it is one.

    All other columns are facts (see `extract.facts`). The parsed event, with the texts of its facets, is not used, so
    that Spark need not keep it until here.
    """
    kind, event_time = F.col("kind"), F.col("event_time")
    has_local_time = stated_time.rlike(extract.LOCAL_TIME + "$")
    has_run_id = F.coalesce(F.col("run_id").rlike(_UUID), F.lit(False))
    return (
        F.when(has_wrong_type, Reason.BAD_SHAPE.value)
        .when(kind.isNull(), Reason.NOT_AN_EVENT.value)
        .when(_is_blank(stated_time), Reason.MISSING_EVENT_TIME.value)
        .when(event_time.isNull() & has_local_time, Reason.EVENT_TIME_WITHOUT_ZONE.value)
        .when(event_time.isNull(), Reason.BAD_EVENT_TIME.value)
        .when(~F.col("event_type").isin(*EVENT_TYPES), Reason.UNKNOWN_EVENT_TYPE.value)
        .when(_is_blank(F.col("producer")), Reason.MISSING_PRODUCER.value)
        .when(_is_blank(F.col("schema_url")), Reason.MISSING_SCHEMA_URL.value)
        .when((kind == "RUN") & ~has_run_id, Reason.BAD_RUN_ID.value)
        .when(kind.isin("RUN", "JOB") & _is_nameless("job"), Reason.MISSING_JOB.value)
        .when((kind == "DATASET") & _is_nameless("dataset"), Reason.MISSING_DATASET.value)
        .when(_has_nameless(F.col("inputs")) | _has_nameless(F.col("outputs")), Reason.MISSING_DATASET.value)
        .when(extract.readable_counts() < stated_counts, Reason.BAD_COUNT.value)
    )


def envelope_fault(envelope: Column) -> Column:
    """The reason why an envelope does not belong to its payload; null if it does, or if there is none."""
    agrees = reduce(and_, (envelope[name].eqNullSafe(F.col(name)) for name in ENVELOPE_FACTS))
    return F.when(envelope.isNotNull() & ~agrees, Reason.ENVELOPE_DISAGREES.value)


def _is_blank(text: Column) -> Column:
    return F.coalesce(text == "", F.lit(True))


def _is_nameless(entity: str) -> Column:
    return _is_blank(F.col(f"{entity}_namespace")) | _is_blank(F.col(f"{entity}_name"))


def _has_nameless(datasets: Column) -> Column:
    """`array_contains` is null if the text is not in the array, but a null is."""
    is_nameless = F.array_contains(datasets["namespace"], "") | F.array_contains(datasets["name"], "")
    return datasets.isNotNull() & F.coalesce(is_nameless, F.lit(True))
