"""The wire format of events: the only module that knows how they are encoded.

There are three framings. The first bytes tell them apart:

* ``C3 01`` + 8-byte schema fingerprint + Avro: *single-object encoding*, the default;
* ``00`` + 4-byte schema id + Avro: Confluent's framing, with a schema registry;
* ``{``: plain OpenLineage JSON, as the Kafka transport of an OpenLineage client writes it.

A record is never decoded with a schema that came over the wire: a fingerprint or an id only selects one of
the schemas in `WRITER_SCHEMAS`.
"""

import io
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

import fastavro

from lineproof.schemas.avro import (
    CONFLUENT_HEADER_BYTES,
    SINGLE_OBJECT_HEADER_BYTES,
    SINGLE_OBJECT_MARKER,
    Schema,
    confluent_schema_id,
    released,
)
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.openlineage import Event
from lineproof.schemas.reasons import Reason

VERSION = 1
JSON_MARKER = b"{"

MAX_RECORD_BYTES = 20 * 1024 * 1024
"""Large enough for events with Spark's logical plans, which have many megabytes."""

WRITER_SCHEMAS: dict[int, Schema] = released("envelope")
"""Every released version of the envelope, so that archived records stay readable."""


class UnreadableRecord(LineproofError):
    """The value of a record is not an event in any framing. `reason` is the code of its dead letter."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(f"The record cannot be read ({reason.value}): {reason.meaning}.", reason.remedy)
        self.reason = reason


@dataclass(frozen=True)
class Envelope:
    """The fields of `envelope.avsc`, in its order."""

    envelope_version: int
    event_id: str
    kind: str
    event_type: str | None
    event_time: datetime
    run_id: str | None
    job_namespace: str | None
    job_name: str | None
    dataset_namespace: str | None
    dataset_name: str | None
    producer: str
    emitter_id: str
    sequence: int
    trace_id: str | None
    content_encoding: str
    payload: bytes

    @classmethod
    def seal(cls, event: Event, emitter_id: str, sequence: int, trace_id: str | None = None) -> "Envelope":
        """Put a validated event into an envelope."""
        return cls(
            envelope_version=VERSION,
            event_id=event_id(event.payload),
            kind=event.kind,
            event_type=event.event_type,
            event_time=event.event_time,
            run_id=event.run_id,
            job_namespace=event.job_namespace,
            job_name=event.job_name,
            dataset_namespace=event.dataset_namespace,
            dataset_name=event.dataset_name,
            producer=event.producer,
            emitter_id=emitter_id,
            sequence=sequence,
            trace_id=trace_id,
            content_encoding="plain",
            payload=event.payload,
        )

    def encode(self, schema_id: int | None = None) -> bytes:
        """The value of the record: single-object encoding, or Confluent framing if a registry gave a schema id."""
        out = io.BytesIO()
        out.write(WRITER_SCHEMAS[VERSION].header(schema_id))
        fastavro.schemaless_writer(out, WRITER_SCHEMAS[VERSION].parsed, vars(self))
        return out.getvalue()


def event_id(payload: bytes) -> str:
    """The id of an event: a UUIDv8 (RFC 9562) from the first 16 bytes of the SHA-256 of the payload.

    `lineproof.streaming.stages.decode` computes the same in Spark SQL.
    """
    digest = bytearray(sha256(payload).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(digest)))


def decode(value: bytes | None, schema_ids: Mapping[int, int] | None = None) -> Envelope | bytes:
    """Decode the value of a record: an envelope, or the payload of a plain JSON event.

    `schema_ids` maps a registry's schema ids to envelope versions.
    """
    if not value:
        raise UnreadableRecord(Reason.EMPTY_VALUE)
    if value.startswith(JSON_MARKER):
        return value
    version, body = version_and_body(value, schema_ids or {})
    try:
        return Envelope(**WRITER_SCHEMAS[version].read(body, WRITER_SCHEMAS[VERSION]))
    except (EOFError, ValueError, IndexError, TypeError, OverflowError, MemoryError) as error:
        raise UnreadableRecord(Reason.AVRO_UNDECODABLE) from error


def version_and_body(value: bytes, schema_ids: Mapping[int, int]) -> tuple[int, bytes]:
    """The envelope version that the header of a record names, and the bytes after the header."""
    if value.startswith(SINGLE_OBJECT_MARKER):
        for version, known in WRITER_SCHEMAS.items():
            if value[2:SINGLE_OBJECT_HEADER_BYTES] == known.fingerprint:
                return version, value[SINGLE_OBJECT_HEADER_BYTES:]
        raise UnreadableRecord(Reason.UNKNOWN_SCHEMA_FINGERPRINT)
    schema_id = confluent_schema_id(value)
    if schema_id is None:
        raise UnreadableRecord(Reason.UNKNOWN_FRAMING)
    if schema_id not in schema_ids:
        raise UnreadableRecord(Reason.UNKNOWN_SCHEMA_ID)
    return schema_ids[schema_id], value[CONFLUENT_HEADER_BYTES:]
