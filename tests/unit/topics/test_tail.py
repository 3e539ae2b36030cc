"""Decode the records of any topic, and print them one by one."""

import io
from typing import Any

import fastavro
import pytest
from fastavro.utils import generate_one

from lineproof.cli.output import Format, Lines
from lineproof.schemas.avro import NAMES, newest
from lineproof.topics.tail import decode
from tests.events import payload, sealed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("schema_id", [None, 7])
def test_all_our_records_are_decoded_in_both_framings(name: str, schema_id: int | None) -> None:
    schema = newest(name)
    record: Any = generate_one(schema.parsed)
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema.parsed, record)
    found, read, undecoded = decode(schema.header(schema_id) + out.getvalue(), {7: schema})
    assert (found, undecoded) == (schema, None)
    assert read.keys() == record.keys()


def test_an_event_is_shown_with_its_payload() -> None:
    schema, record, _ = decode(sealed(payload()).encode(), {})
    assert schema == newest("envelope")
    assert record["payload"]["run"]["runId"] == record["run_id"]
    assert decode(payload(), {})[1]["eventType"] == "START"


@pytest.mark.parametrize("value", [None, b"", b"hello", b"{", b"\x00\x00\x00\x00\x08x", b"\xc3\x01" + bytes(9)])
def test_undecodable_records_say_why_and_keep_their_bytes(value: bytes | None) -> None:
    schema, record, undecoded = decode(value, {7: newest("run")})
    assert schema is None
    assert record == (value or None)
    assert undecoded


def test_truncated_records_keep_their_bytes() -> None:
    whole = sealed(payload()).encode()
    assert decode(whole[:-9], {})[1:] == (whole[:-9], "the Avro bytes are truncated or damaged")


def test_lines_keep_their_columns_and_escape_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(["state", "job"], Format.TABLE)
    lines.print(["COMPLETED", "a\x1b[2J"])
    lines.print(["FAILED", None])
    assert capsys.readouterr().out == "state      job\nCOMPLETED  a\\x1b[2J\nFAILED\n"
    csv = Lines(["state", "job"], Format.CSV)
    csv.print(["FAILED", "a,b"])
    csv.print(["FAILED", None])
    assert capsys.readouterr().out == 'state,job\nFAILED,"a,b"\nFAILED,\n'
