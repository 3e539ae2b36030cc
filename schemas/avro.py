"""Avro schemas by name and version, and the header that says which schema a record was written with.

`NAME.avsc` is the schema for new records. `released/NAME.VERSION.avsc` has every released version, also the newest: old
records stay readable, and readers with an old schema can read new records (docs/topics.md).
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
        """The schema in the form that fastavro needs."""
        return fastavro.parse_schema(json.loads(self.text))

    @cached_property
    def canonical(self) -> str:
        """The canonical form: equal for schemas that differ only in notation."""
        return str(to_parsing_canonical_form(json.loads(self.text)))

    @cached_property
    def fingerprint(self) -> bytes:
        """CRC-64 of the canonical form."""
        return bytes.fromhex(fingerprint(self.canonical, "CRC-64-AVRO"))

    def header(self, schema_id: int | None = None) -> bytes:
        """The first bytes of a record: single-object encoding, or Confluent framing if a registry gave a schema id."""
        if schema_id is None:
            return SINGLE_OBJECT_MARKER + self.fingerprint
        return CONFLUENT_MARKER + struct.pack(">I", schema_id)

    def read(self, body: bytes, reader: "Schema | None" = None) -> dict[str, Any]:
        """Decode bytes that were written with this schema, without their header, as a reader with another schema."""
        as_read: Any = fastavro.schemaless_reader(io.BytesIO(body), self.parsed, (reader or self).parsed)
        return dict(as_read)


@cache
def released(name: str) -> dict[int, Schema]:
    """Every released version of a schema, the newest last."""
    pattern = re.compile(rf"{name}\.(\d+)\.avsc")
    found = ((pattern.fullmatch(file.name), file) for file in files("lineproof.schemas").joinpath("released").iterdir())
    versions = {int(match[1]): file.read_text() for match, file in found if match}
    return {version: Schema(name, version, versions[version]) for version in sorted(versions)}


def newest(name: str) -> Schema:
    """The version that new records are written with."""
    return [*released(name).values()][-1]


def confluent_schema_id(value: bytes) -> int | None:
    """The schema id, if the value has Confluent framing; otherwise None."""
    if not value.startswith(CONFLUENT_MARKER) or len(value) < CONFLUENT_HEADER_BYTES:
        return None
    (schema_id,) = struct.unpack(">I", value[1:CONFLUENT_HEADER_BYTES])
    return int(schema_id)
