"""From the bytes of a record to its facts: decode the envelope, parse the JSON once, extract the facts, judge them."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.defects import Defect
from lineproof.schemas.limits import DEFAULT_LIMITS, Limits
from lineproof.schemas.tables import COORDINATES
from lineproof.streaming.stages import decode, extract, judge, parse

_EMITTER_FIELDS = ("emitter_id", "sequence", "trace_id")
"""The fields of an envelope that the event itself does not have."""

_RECORD = ("key", "headers", "value")
"""Kept only of a record that cannot be used, for its dead letter."""

_FIRST_BROKERS = "TIMESTAMP '2011-01-01T00:00:00Z'"
"""Kafka timestamps from before there was Kafka were not set by a clock: -1 stands for none."""


def facts(
    archived: DataFrame, schema_ids: Mapping[int, int], limits: Limits = DEFAULT_LIMITS, *, is_strict: bool = False
) -> DataFrame:
    """A row for each archived record: the facts of its event, or the first `reason` why it is not an event."""
    text, reason = F.col("text"), F.col("reason")
    event, run_facets, envelope = F.col("event"), F.col("run_facets"), F.col("envelope")
    parsed = _without_equal_keys(_parsed(_payloads(archived, schema_ids)))
    selected = parsed.withColumns(
        {
            "run_facets": event["run"]["facets"],
            "size_defects": F.when(judge.could_exceed(text, limits), judge.codes(judge.defects_of_size(event, limits))),
            **{role: extract.kept(datasets, limits) for role, datasets in extract.datasets(event).items()},
        }
    )
    found = extract.facts(event, run_facets)
    extracted = selected.withColumns({"stated_counts": extract.stated_counts(run_facets), **found})
    of_event = judge.defects_of_event(event, F.col("stated_counts"))
    judged = extracted.withColumns(
        {
            "defects": F.concat(
                *(F.coalesce(codes, F.array().cast("array<string>")) for codes in _defects(judge.codes(of_event)))
            ),
            "event_fault": judge.event_fault(event["eventTime"]),
        }
    ).withColumn("defects", F.when(F.size("defects") > 0, F.col("defects")))
    fault = F.coalesce(reason, parse.json_fault(text, F.col("is_valid")), F.col("event_fault"))
    strict = [judge.strict_fault(F.col("defects"))] if is_strict else []
    return (
        judged.withColumn("reason", F.coalesce(fault, *strict))
        .withColumns(
            {
                "reason": F.coalesce(reason, judge.envelope_fault(envelope)),
                **{name: envelope[name] for name in _EMITTER_FIELDS},
            }
        )
        .withColumns(
            {
                "event": F.when(reason.isNull(), text),
                "defects": F.when(reason.isNull(), F.col("defects")),
                "event_time": F.when(_is_in_future(), F.col("timestamp")).otherwise(F.col("event_time")),
                "error": F.lit(None).cast("string"),
                **{name: F.when(reason.isNotNull(), F.col(name)) for name in _RECORD},
            }
        )
        .select(
            *COORDINATES,
            "timestamp",
            "reason",
            "event_id",
            *found,
            *_EMITTER_FIELDS,
            "defects",
            "event",
            "error",
            *_RECORD,
        )
    )


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


def _parsed(payloads: DataFrame) -> DataFrame:
    """Add the parsed `event`, whether its text `is_valid` JSON, and whether a member `has_wrong_type`."""
    parsed, event_id = F.col("parsed"), F.col("event_id")
    return payloads.withColumn("parsed", parse.parsed(F.col("text"), event_id)).withColumns(
        {
            "is_valid": parse.is_valid(parsed, event_id),
            "has_wrong_type": parse.has_wrong_type(parsed),
            "event": parse.event(parsed),
        }
    )


def _without_equal_keys(parsed: DataFrame) -> DataFrame:
    """Write an event with equal keys again without the earlier ones, and parse it again. Such events are rare."""
    event, text, has_duplicates = F.col("event"), F.col("text"), F.col("has_duplicates")
    rewritten = F.when(has_duplicates, parse.with_last_of_equal_keys(text))
    return (
        parsed.withColumn("has_duplicates", judge.has_duplicates(event) & F.col("is_valid"))
        .withColumn("rewritten", rewritten)
        .withColumns(
            {
                "text": F.coalesce("rewritten", text),
                "event": F.when(
                    F.col("rewritten").isNotNull(), parse.event(parse.parsed(F.col("rewritten"), F.col("event_id")))
                ).otherwise(event),
            }
        )
    )


def _defects(of_event: Column) -> list[Column]:
    """The codes of all defects of a record."""
    of_json = {
        Defect.DUPLICATE_JSON_KEY: F.col("has_duplicates"),
        Defect.WRONG_TYPE: F.col("has_wrong_type"),
        Defect.EVENT_TIME_IN_FUTURE: _is_in_future(),
    }
    return [judge.codes(of_json), of_event, F.col("size_defects")]


def _is_in_future() -> Column:
    """Whether the event states a time more than a day after Kafka got it."""
    kafka = F.col("timestamp")
    is_later = F.col("event_time") > kafka + F.expr("INTERVAL 1 DAY")
    return F.coalesce(is_later & (kafka > F.expr(_FIRST_BROKERS)), F.lit(False))
