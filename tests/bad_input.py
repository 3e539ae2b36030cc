"""Every kind of bad input with its reason, events with each defect, and unusual input that is good."""

import uuid
from dataclasses import replace
from typing import Any

from lineproof.schemas.defects import Defect
from lineproof.schemas.limits import DEFAULT_LIMITS
from lineproof.schemas.reasons import Reason
from tests.events import ABSENT, RUN_ID, output, payload, sealed

GOOD = payload()
ENVELOPE = sealed(GOOD, sequence=4, trace_id="0af7651916cd43dd8448eb211c80319c")
LEDGER = {"_producer": "https://example.com", "_schemaURL": "https://example.com/l"}
NASTY = 'Robert\'); DROP TABLE runs;-- "quoted"\n<script>alert(1)</script> \u202e \U0001f600 `$(rm)`'

TWICE = payload(
    run={"runId": RUN_ID, "facets": {"errorMessage": {"message": "first"}, "@": {"message": "last"}}}
).replace(b'"@"', b'"errorMessage"')
"""The last one of two equal facets counts."""


def ledger_event(**counts: Any) -> bytes:
    return payload(run={"runId": RUN_ID, "facets": {"cdme_accountingLedger": {**LEDGER, **counts}}})


def nested(depth: int) -> bytes:
    return GOOD[:-1] + b', "deep": ' + b"[" * depth + b"]" * depth + b"}"


def symlinks(count: int) -> dict[str, Any]:
    return {"identifiers": [{"namespace": "db", "name": f"s{n}", "type": "TABLE"} for n in range(count)]}


def columns(count: int) -> dict[str, Any]:
    return {
        "fields": {f"c{n}": {"inputFields": [{"namespace": "db", "name": "s", "field": "f"}]} for n in range(count)}
    }


BAD: dict[str, tuple[bytes | None, Reason]] = {
    "no value": (None, Reason.EMPTY_VALUE),
    "empty value": (b"", Reason.EMPTY_VALUE),
    "unreadable bytes": (b"\xde\xad\xbe\xef", Reason.UNKNOWN_FRAMING),
    "a lone zero": (b"\x00", Reason.UNKNOWN_FRAMING),
    "text": (b"hello", Reason.UNKNOWN_FRAMING),
    "JSON array": (b"[1]", Reason.UNKNOWN_FRAMING),
    "wrong fingerprint": (b"\xc3\x01" + bytes(8) + ENVELOPE.encode()[10:], Reason.UNKNOWN_SCHEMA_FINGERPRINT),
    "only a marker": (b"\xc3\x01", Reason.UNKNOWN_SCHEMA_FINGERPRINT),
    "unknown schema id": (ENVELOPE.encode(8), Reason.UNKNOWN_SCHEMA_ID),
    "truncated Avro": (ENVELOPE.encode()[:-50], Reason.AVRO_UNDECODABLE),
    "header only": (ENVELOPE.encode()[:10], Reason.AVRO_UNDECODABLE),
    "a length of 2 GB": (
        ENVELOPE.encode()[:10] + b"\x02\x80\xe0\xff\xff\x0e" + b"x" * 50,
        Reason.AVRO_UNDECODABLE,
    ),
    "a negative length": (ENVELOPE.encode()[:10] + b"\x02\x01", Reason.AVRO_UNDECODABLE),
    "truncated Confluent": (ENVELOPE.encode(7)[:-50], Reason.AVRO_UNDECODABLE),
    "other encoding": (replace(ENVELOPE, content_encoding="zstd").encode(), Reason.UNSUPPORTED_ENCODING),
    "not UTF-8": (GOOD.replace(b"tests", b"t\xffsts"), Reason.INVALID_UTF8),
    "not UTF-8, and a facet twice": (TWICE.replace(b"tests", b"t\xffsts"), Reason.INVALID_UTF8),
    "truncated JSON": (GOOD[:-5], Reason.INVALID_JSON),
    "two values": (GOOD + GOOD, Reason.INVALID_JSON),
    "something behind": (GOOD + b" x", Reason.INVALID_JSON),
    "a bracket behind": (GOOD + b"]", Reason.INVALID_JSON),
    "an element behind": (GOOD + b', "x"', Reason.INVALID_JSON),
    "single quotes": (GOOD.replace(b'"', b"'"), Reason.INVALID_JSON),
    "NaN": (GOOD[:-1] + b', "x": NaN}', Reason.INVALID_JSON),
    "raw control character": (GOOD.replace(b"tests", b"te\nsts"), Reason.INVALID_JSON),
    "a number of 2,000 digits": (GOOD[:-1] + b', "x": ' + b"9" * 2000 + b"}", Reason.INVALID_JSON),
    "a name of 60,000 characters": (GOOD[:-1] + b', "' + b"x" * 60_000 + b'": 1}', Reason.INVALID_JSON),
    "nested 1,001 deep": (nested(1000), Reason.JSON_TOO_DEEP),
    "nested 1,001 deep in a facet": (
        payload(job={"namespace": "t", "name": "j", "facets": {"x": "@"}}).replace(b'"@"', b"[" * 998 + b"]" * 998),
        Reason.JSON_TOO_DEEP,
    ),
    "nested 5,000 deep": (nested(5000), Reason.JSON_TOO_DEEP),
    "nested 1,000,000 deep": (nested(1_000_000), Reason.JSON_TOO_DEEP),
    "another document": (b'{"temperature": 21.5}', Reason.NOT_AN_EVENT),
    "an empty object": (b"{}", Reason.NOT_AN_EVENT),
    "no time": (payload(eventTime=ABSENT), Reason.MISSING_EVENT_TIME),
    "no time at all": (payload(eventTime="yesterday"), Reason.BAD_EVENT_TIME),
    "epoch seconds": (payload(eventTime=1769853600), Reason.BAD_EVENT_TIME),
    "30 February": (payload(eventTime="2026-02-30T10:00:00Z"), Reason.BAD_EVENT_TIME),
    "no run id": (payload(run={}), Reason.BAD_RUN_ID),
    "no job": (payload(job=ABSENT), Reason.MISSING_JOB),
    "nameless job": (payload(job={"namespace": "tests", "name": ""}), Reason.MISSING_JOB),
    "nameless dataset": (payload(run=ABSENT, job=ABSENT, dataset={"namespace": "db"}), Reason.MISSING_DATASET),
    "payload changed in its envelope": (
        replace(ENVELOPE, payload=GOOD.replace(b"START", b"OTHER")).encode(),
        Reason.ENVELOPE_DISAGREES,
    ),
    "envelope of another run": (replace(ENVELOPE, run_id=str(uuid.UUID(int=9))).encode(), Reason.ENVELOPE_DISAGREES),
}

DEFECTIVE: dict[str, tuple[bytes, Defect]] = {
    "duplicate facet": (
        payload(run={"runId": RUN_ID, "facets": {"x": LEDGER, "y": LEDGER}}).replace(b'"y"', b'"x"'),
        Defect.DUPLICATE_JSON_KEY,
    ),
    "duplicate facet of an input": (
        payload(inputs=[{"namespace": "db", "name": "t", "facets": {"x": {}, "y": {}}}]).replace(b'"y"', b'"x"'),
        Defect.DUPLICATE_JSON_KEY,
    ),
    "a facet twice with two texts": (TWICE, Defect.DUPLICATE_JSON_KEY),
    "a run facet that is text": (
        payload(run={"runId": RUN_ID, "facets": {"parent": "p", "errorMessage": {"message": {"a": 1e15}}}}),
        Defect.WRONG_TYPE,
    ),
    "an input that is a number": (payload(inputs=[5, {"namespace": "db", "name": "t"}]), Defect.WRONG_TYPE),
    "inputs that are no array": (payload(inputs={"namespace": "db", "name": "t"}), Defect.WRONG_TYPE),
    "an input that is text": (payload(inputs=["db/t"]), Defect.WRONG_TYPE),
    "a run that is text": (payload(run="r"), Defect.WRONG_TYPE),
    "facets that are a list": (payload(run={"runId": RUN_ID, "facets": [1]}), Defect.WRONG_TYPE),
    "time without zone": (payload(eventTime="2026-01-31T10:00:00.5"), Defect.EVENT_TIME_WITHOUT_ZONE),
    "far ahead": (payload(eventTime="9999-12-31T23:59:59Z"), Defect.EVENT_TIME_IN_FUTURE),
    "after the last year": (payload(eventTime="9999-12-31T23:59:59-14:00"), Defect.EVENT_TIME_IN_FUTURE),
    "unknown type": (payload(eventType="PAUSE"), Defect.UNKNOWN_EVENT_TYPE),
    "no producer": (payload(producer=ABSENT), Defect.MISSING_PRODUCER),
    "an empty producer": (payload(producer=""), Defect.MISSING_PRODUCER),
    "no schemaURL": (payload(schemaURL=""), Defect.MISSING_SCHEMA_URL),
    "run id that is no UUID": (payload(run={"runId": "run_20240115_001"}), Defect.RUN_ID_NOT_UUID),
    "nameless input": (payload(inputs=[{"namespace": "db"}]), Defect.NAMELESS_DATASET),
    "nameless output": (payload(outputs=[{"name": "t"}]), Defect.NAMELESS_DATASET),
    "row count beyond 64 bits": (payload(outputs=[output("t", 2**64)]), Defect.BAD_COUNT),
    "negative row count": (payload(outputs=[output("t", -1)]), Defect.BAD_COUNT),
    "half a row": (payload(outputs=[output("t", 1.5)]), Defect.BAD_COUNT),
    "half a row of many": (payload(outputs=[output("t", 12_345_678.5)]), Defect.BAD_COUNT),
    "a row count of infinity": (payload(outputs=[output("t", "@")]).replace(b'"@"', b"1e400"), Defect.BAD_COUNT),
    "ledger in words": (ledger_event(inputRecordCount="many"), Defect.BAD_COUNT),
    "datasets by the thousand": (
        payload(inputs=[{"namespace": "db", "name": f"t{n}"} for n in range(DEFAULT_LIMITS.datasets + 1)]),
        Defect.TOO_MANY_DATASETS,
    ),
    "facets by the thousand": (
        payload(job={"namespace": "tests", "name": "job", "facets": {f"f{n}": {} for n in range(1001)}}),
        Defect.TOO_MANY_FACETS,
    ),
    "symlinks by the hundred": (
        payload(inputs=[{"namespace": "db", "name": "t", "facets": {"symlinks": symlinks(101)}}]),
        Defect.TOO_MANY_SYMLINKS,
    ),
    "columns by the thousand": (
        payload(outputs=[{"namespace": "db", "name": "t", "facets": {"columnLineage": columns(10_001)}}]),
        Defect.TOO_MANY_COLUMNS,
    ),
    "a certificate of another run": (
        payload(run={"runId": RUN_ID, "facets": {"cdme_fidelityCertificate": {"runId": str(uuid.UUID(int=9))}}}),
        Defect.FOREIGN_CERTIFICATE,
    ),
}
"""Events that are used, with the first thing that is wrong with them."""

USABLE: dict[str, bytes] = {
    "sealed": ENVELOPE.encode(),
    "Confluent framing": ENVELOPE.encode(7),
    "plain JSON": GOOD,
    "no event type": payload(eventType=ABSENT),
    "null event type": payload(eventType=None),
    "dataset event": payload(run=ABSENT, job=ABSENT, dataset={"namespace": "db", "name": "t"}),
    "job event": payload(run=ABSENT),
    "spec 1-0-5": payload(schemaURL="https://openlineage.io/spec/1-0-5/OpenLineage.json#/definitions/RunEvent"),
    "5 MB facet": payload(run={"runId": RUN_ID, "facets": {"big": {**LEDGER, "text": "x" * 5_000_000}}}),
    "nested 1,000 deep": nested(999),
    "number beyond 64 bits in a facet": payload(run={"runId": RUN_ID, "facets": {"n": {**LEDGER, "n": 2**200}}}),
    "nasty names": payload(job={"namespace": NASTY, "name": NASTY}),
    "upper-case run id": payload(run={"runId": RUN_ID.upper()}),
    "offset without colon": payload(eventTime="2026-01-31T12:00:00.123456789+0200"),
    "long ago": payload(eventTime="1000-01-01T00:00:00Z"),
    "a key twice": GOOD[:-1] + b', "eventType": "FAIL"}',
    "a key twice inside a facet": GOOD[:-1] + b', "x": {"a": 1, "a": 2}}',
    "an hour ahead": payload(eventTime="2026-06-30T13:00:00Z"),
    "whole numbers written as fractions": payload(outputs=[output("t", 12_000_000.0), output("u", 3.0)]),
    "a ledger of the largest counts": ledger_event(inputRecordCount=2**63 - 1, processedCount=2**63 - 1),
    "ledger under its older key": payload(
        run={"runId": RUN_ID, "facets": {"cdme.accountingLedger": {**LEDGER, "inputRecordCount": 3}}}
    ),
}
