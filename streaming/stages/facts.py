"""From the bytes of a record to its facts: decode the envelope, parse the JSON once, extract the facts, judge them."""

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.tables import COORDINATES
from lineproof.streaming.stages import decode, extract, judge, parse

_EMITTER_FIELDS = ("emitter_id", "sequence", "trace_id")
"""The fields of an envelope that the event itself does not have."""


def facts(archived: DataFrame, schema_ids: Mapping[int, int]) -> DataFrame:
    """A row for each archived record: the facts of its event, or the first `reason` why it is not an event."""
    text, event_id, reason = F.col("text"), F.col("event_id"), F.col("reason")
    event, envelope = F.col("event"), F.col("envelope")
    parsed = _payloads(archived, schema_ids).withColumns(
        {
            "is_strict_json": parse.is_strict_json(text, event_id),
            "event": parse.event(text),
        }
    )
    found = extract.facts(event, text)
    extracted = parsed.withColumns(
        {
            **found,
            "stated_time": event["eventTime"],
            "has_wrong_type": parse.has_wrong_type(event),
            "stated_counts": extract.stated_counts(event),
        }
    )
    event_fault = judge.event_fault(
        stated_time=F.col("stated_time"), has_wrong_type=F.col("has_wrong_type"), stated_counts=F.col("stated_counts")
    )
    json_fault = parse.json_fault(text, event_id, F.col("is_strict_json"))
    return (
        extracted.withColumn("reason", F.coalesce(reason, json_fault, event_fault))
        .withColumns(
            {
                "reason": F.coalesce(reason, judge.envelope_fault(envelope)),
                **{name: envelope[name] for name in _EMITTER_FIELDS},
            }
        )
        .withColumn("event", F.when(reason.isNull(), text))
        .select(*COORDINATES, "timestamp", "reason", "event_id", *found, *_EMITTER_FIELDS, "event")
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
