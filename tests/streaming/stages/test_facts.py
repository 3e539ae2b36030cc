"""Every record becomes a correct row or a dead letter with its own reason."""

import json

import pytest
from pyspark.sql import Row, SparkSession

from lineproof.schemas.envelope import Envelope, UnreadableRecord, decode, event_id
from lineproof.schemas.reasons import Reason
from lineproof.streaming.stages.facts import facts
from tests.bad_input import BAD, ENVELOPE, NASTY, USABLE
from tests.events import RUN_ID, payload
from tests.streaming.records import records


@pytest.fixture(scope="module")
def decoded(spark: SparkSession) -> dict[str, Row]:
    """All records in one batch: a bad record must not affect the others."""
    values = {**{name: value for name, (value, _) in BAD.items()}, **USABLE}
    rows = facts(records(spark, list(values.values())), {7: 1}).drop("event").orderBy("offset").collect()
    return dict(zip(values, rows, strict=True))


@pytest.mark.parametrize("name", BAD)
def test_bad_records_have_their_reason(decoded: dict[str, Row], name: str) -> None:
    assert decoded[name].reason == BAD[name][1].value


def test_every_reason_is_shown_by_a_record() -> None:
    assert {reason for _, reason in BAD.values()} == set(Reason)


@pytest.mark.parametrize("name", USABLE)
def test_usable_records_have_no_reason_and_their_event_id(decoded: dict[str, Row], name: str) -> None:
    opened = decode(USABLE[name], {7: 1})
    body = opened.payload if isinstance(opened, Envelope) else opened
    assert decoded[name].reason is None
    assert decoded[name].event_id == event_id(body)


def test_python_calls_the_same_records_unreadable() -> None:
    in_python = {
        Reason.EMPTY_VALUE,
        Reason.UNKNOWN_FRAMING,
        Reason.UNKNOWN_SCHEMA_FINGERPRINT,
        Reason.UNKNOWN_SCHEMA_ID,
        Reason.AVRO_UNDECODABLE,
    }
    for value, reason in BAD.values():
        if reason in in_python:
            with pytest.raises(UnreadableRecord) as caught:
                decode(value, {7: 1})
            assert caught.value.reason is reason
        else:
            decode(value, {7: 1})


def test_facts_of_a_sealed_event(decoded: dict[str, Row]) -> None:
    row = decoded["sealed"]
    assert (row.kind, row.event_type, row.run_id) == ("RUN", "START", RUN_ID)
    assert (row.job_namespace, row.job_name) == ("tests", "job")
    [read], [written] = row.inputs, row.outputs
    assert (read.namespace, read.name, read.row_count, read.size) == ("db", "in", None, None)
    assert (written.namespace, written.name, written.row_count, written.size) == ("db", "out", 7, None)
    assert (row.emitter_id, row.sequence, row.trace_id) == (ENVELOPE.emitter_id, 4, ENVELOPE.trace_id)


def test_names_are_kept_exactly(decoded: dict[str, Row]) -> None:
    assert decoded["nasty names"].job_name == NASTY


def test_kinds(decoded: dict[str, Row]) -> None:
    assert (decoded["dataset event"].kind, decoded["dataset event"].dataset_name) == ("DATASET", "t")
    assert (decoded["job event"].kind, decoded["job event"].run_id) == ("JOB", None)


def test_run_ids_are_lower_case(decoded: dict[str, Row]) -> None:
    assert decoded["upper-case run id"].run_id == RUN_ID


def test_both_ledger_keys(decoded: dict[str, Row]) -> None:
    assert decoded["ledger under its older key"].ledger.input_count == 3
    assert decoded["a ledger of the largest counts"].ledger.input_count == 2**63 - 1


def test_counts_may_be_written_as_fractions(decoded: dict[str, Row]) -> None:
    rows = decoded["whole numbers written as fractions"]
    assert [one.row_count for one in rows.outputs] == [12_000_000, 3]


def test_json_payloads_need_not_be_ascii(spark: SparkSession) -> None:
    body = json.dumps(json.loads(payload(job={"namespace": NASTY, "name": NASTY})), ensure_ascii=False).encode()
    [row] = facts(records(spark, [body]), {}).collect()
    assert (row.reason, row.job_name, row.event_id) == (None, NASTY, event_id(body))
    assert row.event.encode() == body
