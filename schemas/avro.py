"""Avro as all our records have it: schemas by name and version, and the header that tells which of them wrote a record.

`NAME.avsc` is what is written now. `released/NAME.VERSION.avsc` is every version ever released, the newest included:
records that were written with them stay readable, and their readers can read what is written now (docs/topics.md).
"""

import io
import json
import re
import struct
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import fastavro
from fastavro.schema import fingerprint, to_parsing_canonical_form

SINGLE_OBJECT_MARKER = b"\xc3\x01"
CONFLUENT_MARKER = b"\x00"
SINGLE_OBJECT_HEADER_BYTES = 10
CONFLUENT_HEADER_BYTES = 5

NAMES = ("envelope", "run", "violation", "quality_result")


@dataclass(frozen=True)
class Schema:
    """One version of one schema."""

    name: str
    version: int
    text: str

    @cached_property
    def parsed(self) -> Any:
        """As fastavro wants it."""
        return fastavro.parse_schema(json.loads(self.text))

    @cached_property
    def canonical(self) -> str:
        """What makes it the same schema, however it is written."""
        return str(to_parsing_canonical_form(json.loads(self.text)))

    @cached_property
    def fingerprint(self) -> bytes:
        """CRC-64 of the canonical form."""
        return bytes.fromhex(fingerprint(self.canonical, "CRC-64-AVRO"))

    def header(self, schema_id: int | None = None) -> bytes:
        """What a record begins with: single-object encoding, or Confluent framing when a registry gave a schema id."""
        if schema_id is None:
            return SINGLE_OBJECT_MARKER + self.fingerprint
        return CONFLUENT_MARKER + struct.pack(">I", schema_id)

    def read(self, body: bytes, reader: "Schema | None" = None) -> dict[str, Any]:
        """The record behind a header, written with this schema; as a reader of another one sees it."""
        as_read: Any = fastavro.schemaless_reader(io.BytesIO(body), self.parsed, (reader or self).parsed)
        return dict(as_read)


@cache
def released(name: str) -> dict[int, Schema]:
    """Every version of a schema ever released, the newest last."""
    pattern = re.compile(rf"{name}\.(\d+)\.avsc")
    found = ((pattern.fullmatch(file.name), file) for file in files("lineproof.schemas").joinpath("released").iterdir())
    versions = {int(match[1]): file.read_text() for match, file in found if match}
    return {version: Schema(name, version, versions[version]) for version in sorted(versions)}


def newest(name: str) -> Schema:
    """What is written now."""
    return [*released(name).values()][-1]


def schema_id_of(value: bytes) -> int | None:
    """The id in Confluent framing; None in any other."""
    if not value.startswith(CONFLUENT_MARKER) or len(value) < CONFLUENT_HEADER_BYTES:
        return None
    (schema_id,) = struct.unpack(">I", value[1:CONFLUENT_HEADER_BYTES])
    return int(schema_id)
