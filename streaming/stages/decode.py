"""Decode the envelope of a record, as Spark expressions.

The rules are those of `lineproof.schemas.envelope`. A value that cannot be decoded gives a reason, never an exception.
"""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from lineproof.schemas.avro import CONFLUENT_MARKER, SINGLE_OBJECT_MARKER
from lineproof.schemas.envelope import JSON_MARKER, VERSION, WRITER_SCHEMAS
from lineproof.schemas.reasons import Reason

_AVRO_OPTIONS = {"mode": "PERMISSIVE", "avroSchema": WRITER_SCHEMAS[VERSION].text}


def envelope(value: Column, schema_ids: Mapping[int, int]) -> Column:
    """The decoded envelope; null if the value is not a readable envelope."""
    by_fingerprint = {schema.header(): schema for schema in WRITER_SCHEMAS.values()}
    by_schema_id = {
        WRITER_SCHEMAS[version].header(schema_id): WRITER_SCHEMAS[version] for schema_id, version in schema_ids.items()
    }
    decoded = F.lit(None)
    for header, schema in {**by_fingerprint, **by_schema_id}.items():
        body = F.substring(value, len(header) + 1, 2**31 - 1)
        decoded = F.when(_starts_with(value, header), from_avro(body, schema.text, _AVRO_OPTIONS)).otherwise(decoded)
    return decoded


def payload(value: Column, envelope: Column) -> Column:
    """The JSON bytes of the event: the payload of the envelope, or the whole value of a plain JSON record."""
    return F.when(_starts_with(value, JSON_MARKER), value).otherwise(envelope["payload"])


def unreadable(value: Column, envelope: Column, schema_ids: Mapping[int, int]) -> Column:
    """The reason why the value has no payload; null if it has one."""
    is_single_object = _starts_with(value, SINGLE_OBJECT_MARKER)
    is_confluent = _starts_with(value, CONFLUENT_MARKER) & (F.octet_length(value) >= 5)
    knows_fingerprint = F.substring(value, 3, 8).isin(
        *(F.lit(bytearray(schema.fingerprint)) for schema in WRITER_SCHEMAS.values())
    )
    knows_schema_id = F.substring(value, 2, 4).isin(
        *(F.lit(bytearray(schema_id.to_bytes(4, "big"))) for schema_id in schema_ids)
    )
    return (
        F.when(value.isNull() | (F.octet_length(value) == 0), Reason.EMPTY_VALUE.value)
        .when(_starts_with(value, JSON_MARKER), None)
        .when(is_single_object & ~knows_fingerprint, Reason.UNKNOWN_SCHEMA_FINGERPRINT.value)
        .when(is_confluent & ~knows_schema_id, Reason.UNKNOWN_SCHEMA_ID.value)
        .when(~is_single_object & ~is_confluent, Reason.UNKNOWN_FRAMING.value)
        .when(envelope["payload"].isNull(), Reason.AVRO_UNDECODABLE.value)
        .when(envelope["content_encoding"] != "plain", Reason.UNSUPPORTED_ENCODING.value)
    )


def event_id(payload: Column) -> Column:
    """`lineproof.schemas.envelope.event_id` as a Spark expression: a SHA-256, cut to a UUIDv8."""
    digest = F.sha2(payload, 256)
    variant = F.element_at(F.array(*map(F.lit, "89ab")), _hex_digit(digest, 17) % 4 + 1)
    return F.concat(
        *(digest.substr(1, 8), F.lit("-"), digest.substr(9, 4), F.lit("-8"), digest.substr(14, 3)),
        *(F.lit("-"), variant, digest.substr(18, 3), F.lit("-"), digest.substr(21, 12)),
    )


def _hex_digit(text: Column, position: int) -> Column:
    return F.instr(F.lit("0123456789abcdef"), text.substr(position, 1)) - 1


def _starts_with(value: Column, header: bytes) -> Column:
    return F.substring(value, 1, len(header)) == F.lit(bytearray(header))
