"""Avro schemas, their headers, and compatibility between versions."""

import io
import json
from importlib.resources import files
from typing import Any

import fastavro
import pytest
from fastavro.schema import SchemaParseException
from fastavro.utils import generate_many

from lineproof.schemas.avro import NAMES, Schema, confluent_schema_id, newest, released
from lineproof.streaming.stages.publish import SCHEMAS
from lineproof.streaming.tables import quality_results, runs

INCOMPATIBLE = (fastavro.read.SchemaResolutionError, SchemaParseException)


def written(schema: Schema, record: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema.parsed, record)
    return out.getvalue()


def assert_readable(writer: Schema, reader: Schema) -> None:
    """The reader can read everything that the writer writes."""
    for record in generate_many(writer.parsed, 20):
        by_writer, by_reader = writer.read(written(writer, record)), writer.read(written(writer, record), reader)
        assert all(by_reader[name] == value for name, value in by_writer.items() if name in by_reader)


@pytest.mark.parametrize("name", NAMES)
def test_old_readers_read_new_records_and_new_readers_old_ones(name: str) -> None:
    """The rule in docs/topics.md, for every released version."""
    for old in released(name).values():
        assert_readable(newest(name), old)
        assert_readable(old, newest(name))


def changed(schema: Schema, *fields: dict[str, Any], without: str = "") -> Schema:
    document = json.loads(schema.text)
    kept = [field for field in document["fields"] if field["name"] not in (without, *(new["name"] for new in fields))]
    return Schema(schema.name, schema.version + 1, json.dumps({**document, "fields": [*kept, *fields]}))


@pytest.mark.parametrize(
    ("fields", "without"),
    [
        ([], "stands"),
        ([{"name": "kind", "type": "int"}], ""),
        ([{"name": "severity", "type": "string"}], ""),
    ],
    ids=["a field is removed", "a field changes its type", "a field without a default is added"],
)
def test_an_incompatible_change_is_found(fields: list[dict[str, Any]], without: str) -> None:
    old = newest("violation")
    new = changed(old, *fields, without=without)
    with pytest.raises(INCOMPATIBLE):  # noqa: PT012
        assert_readable(new, old)
        assert_readable(old, new)


def test_a_field_with_a_default_may_be_added() -> None:
    old = newest("violation")
    new = changed(old, {"name": "severity", "type": ["null", "string"], "default": None})
    assert_readable(new, old)
    assert_readable(old, new)


@pytest.mark.parametrize("name", NAMES)
def test_new_records_have_the_newest_released_schema(name: str) -> None:
    """A changed schema must be added to `released/`, so that it is checked against all others."""
    assert files("lineproof.schemas").joinpath(f"{name}.avsc").read_text() == newest(name).text
    assert [*released(name)] == [*range(1, len(released(name)) + 1)]


def test_headers_tell_schemas_apart() -> None:
    headers = {schema.header() for name in NAMES for schema in released(name).values()}
    assert len(headers) == sum(len(released(name)) for name in NAMES)
    assert all(len(header) == 10 and confluent_schema_id(header) is None for header in headers)
    assert confluent_schema_id(newest("run").header(7) + b"body") == 7
    assert confluent_schema_id(b"\x00\x00") is None


def test_records_have_the_columns_of_their_tables() -> None:
    def fields(name: str) -> list[str]:
        return [field["name"] for field in newest(name).parsed["fields"]]

    assert {*fields("run")} - {*runs.TABLE.columns} == {"record_id", "truncated"}
    assert {*fields("quality_result")} - {*quality_results.TABLE.columns} == {"record_id", "test_id", "truncated"}
    assert all(fields(name)[0] == "record_id" for name in SCHEMAS.values())
    assert all(fields(name)[-1] == "truncated" for name in SCHEMAS.values())
