"""From the bytes of a record to its facts: decode the envelope, parse the JSON once, extract the facts, judge them."""

from collections.abc import Mapping
from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.defects import OF_RECORD, Defect
from lineproof.schemas.limits import DEFAULT_LIMITS, Limits
from lineproof.schemas.principals import NO_PRINCIPALS, Principals
from lineproof.schemas.tables import COORDINATES
from lineproof.streaming.stages import decode, extract, judge, parse, principal

_EMITTER_FIELDS = ("emitter_id", "sequence", "trace_id")
"""The fields of an envelope that the event itself does not have."""

_RECORD = ("key", "headers", "value")
"""Kept only of a record that cannot be used, for its dead letter."""

_FIRST_BROKERS = "TIMESTAMP '2011-01-01T00:00:00Z'"
"""Kafka timestamps from before there was Kafka were not set by a clock: -1 stands for none."""


def facts(
    archived: DataFrame,
    schema_ids: Mapping[int, int],
    limits: Limits = DEFAULT_LIMITS,
    principals: Principals = NO_PRINCIPALS,
    *,
    is_strict: bool = False,
) -> DataFrame:
    """A row for each archived record: the facts of its event, or the first `reason` why it is not an event."""
    records = _payloads(archived, schema_ids)
    for step in (*_parse(), *_extract(limits), *_judge(principals, is_strict=is_strict)):
        records = records.withColumns({**step})
    names = (*_facts(), *_EMITTER_FIELDS, "principal", "redrives", "defects", "event", "error", *_RECORD)
    return records.select(*COORDINATES, "timestamp", "reason", "event_id", *names)


def _payloads(archived: DataFrame, schema_ids: Mapping[int, int]) -> DataFrame:
    """Add the payload of each record as `text`, with its `event_id`, or the `reason` why there is none."""
    value, envelope, payload = F.col("value"), F.col("envelope"), F.col("payload")
    fields = (*judge.ENVELOPE_FACTS, *_EMITTER_FIELDS)
    return (
        archived.withColumn("envelope", decode.envelope(value, schema_ids))
        .withColumns(
            {
                "payload": decode.payload(value, envelope),
                "reason": decode.unreadable(value, envelope, schema_ids),
                "envelope": F.when(envelope.isNotNull(), F.struct(*(envelope[name].alias(name) for name in fields))),
            }
        )
        .withColumn("event_id", decode.event_id(payload))
        .withColumn("text", F.when(F.col("reason").isNull(), payload.cast("string")))
    )


Step = Mapping[str, Column]
"""Columns that are computed from those of the steps before. Cached, because each part of one is a call into the JVM."""


@cache
def _parse() -> tuple[Step, ...]:
    """The parsed `event`, whether its text `is_valid` JSON, and whether a member `has_wrong_type`.

    An event with a wrong type is parsed again. One with equal keys is written again without the earlier ones, and
    parsed again. Such events are rare.
    """
    event, text, event_id, parsed = F.col("event"), F.col("text"), F.col("event_id"), F.col("parsed")
    rewritten, members = F.col("rewritten"), F.col("members")
    is_valid, has_wrong_type = parse.is_valid(parsed, event_id), parse.has_wrong_type(parsed)
    has_duplicates = judge.has_duplicates(event) | parse.has_duplicates_in(members)
    again = parse.event(parse.parsed(rewritten, event_id))
    return (
        {"parsed": parse.parsed(text, event_id)},
        {
            "is_valid": is_valid,
            "has_wrong_type": has_wrong_type,
            "event": parse.event(parsed),
            "members": F.when(is_valid & has_wrong_type, parse.members(text)),
        },
        {"has_duplicates": has_duplicates & F.col("is_valid") & F.is_valid_utf8(text)},
        {"rewritten": F.when(F.col("has_duplicates"), parse.with_last_of_equal_keys(text))},
        {
            "text": F.coalesce(rewritten, text),
            "event": F.when(rewritten.isNotNull(), again).otherwise(event),
            "members": F.when(members.isNotNull() & rewritten.isNotNull(), parse.members(rewritten)).otherwise(members),
        },
        {"event": F.when(members.isNotNull(), parse.with_objects(event, members)).otherwise(event)},
    )


@cache
def _facts() -> Step:
    return extract.facts(F.col("event"), F.col("run_facets"))


@cache
def _extract(limits: Limits) -> tuple[Step, ...]:
    """The facts, and what is needed to judge them."""
    event, run_facets = F.col("event"), F.col("run_facets")
    size_defects = judge.codes(judge.defects_of_size(event, limits))
    return (
        {
            "run_facets": event["run"]["facets"],
            "size_defects": F.when(judge.could_exceed(F.col("text"), limits), size_defects),
            **{role: extract.kept(datasets, limits) for role, datasets in extract.datasets(event).items()},
        },
        {"stated_counts": extract.stated_counts(run_facets), **_facts()},
    )


@cache
def _judge(principals: Principals, *, is_strict: bool) -> tuple[Step, ...]:
    """The `reason` and the `defects`. What a record that is no event states is left out, and its bytes are kept."""
    text, reason, defects, event = F.col("text"), F.col("reason"), F.col("defects"), F.col("event")
    envelope = F.col("envelope")
    found = {
        Defect.DUPLICATE_JSON_KEY: F.col("has_duplicates"),
        Defect.WRONG_TYPE: F.col("has_wrong_type"),
        Defect.EVENT_TIME_IN_FUTURE: _is_in_future(),
        **judge.defects_of_event(event, F.col("stated_counts")),
        **principal.defects(event, F.col("principal"), principals),
    }
    size_defects = F.coalesce("size_defects", F.array().cast("array<string>"))
    json_fault = parse.json_fault(text, F.col("is_valid"), F.col("has_wrong_type"))
    fault = F.coalesce(reason, json_fault, judge.event_fault(event["eventTime"]))
    strict = [judge.strict_fault(defects)] if is_strict else []
    return (
        {"principal": principal.principal(F.col("topic"), F.col("headers"), principals)},
        {
            "defects": F.concat(judge.codes(found), size_defects),
            "reason": fault,
            "redrives": principal.redrives(F.col("headers"), F.col("principal"), principals),
        },
        {
            "reason": F.coalesce(reason, *strict, judge.envelope_fault(envelope)),
            **{name: envelope[name] for name in _EMITTER_FIELDS},
        },
        {
            "event_id": F.when(reason.isNull(), _id_of_what_counts()).otherwise(F.col("event_id")),
            "event": F.when(reason.isNull(), text),
            "defects": F.when(reason.isNull() & (F.size(defects) > 0), defects),
            "event_time": F.when(_is_in_future(), F.col("timestamp")).otherwise(F.col("event_time")),
            "error": F.lit(None).cast("string"),
            **{name: F.when(reason.isNotNull(), F.col(name)) for name in _RECORD},
        },
    )


def _id_of_what_counts() -> Column:
    """An id of its own for an event with defects of its record. It says less than, or something else than, a copy
    without them, so it is another event: which copy is read first must not decide what the tables say.
    """
    event_id, timestamp = F.col("event_id"), F.unix_micros("timestamp").cast("string")
    codes = F.array_intersect("defects", judge.listed(OF_RECORD))
    ranked_as = F.when(F.array_contains(codes, Defect.EVENT_TIME_IN_FUTURE.value), timestamp)
    own = decode.event_id(F.concat_ws("/", event_id, codes, ranked_as).cast("binary"))
    return F.when(F.size(codes) > 0, own).otherwise(event_id)


def _is_in_future() -> Column:
    """Whether the event states a time more than a day after Kafka got it."""
    kafka = F.col("timestamp")
    is_later = F.col("event_time") > kafka + F.expr("INTERVAL 1 DAY")
    return F.coalesce(is_later & (kafka > F.expr(_FIRST_BROKERS)), F.lit(False))
