"""Every record becomes a correct row or a dead letter with its own reason."""

import json

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from lineproof.schemas.defects import FATAL_IF_STRICT, OF_RECORD, Defect
from lineproof.schemas.envelope import Envelope, UnreadableRecord, decode, event_id
from lineproof.schemas.reasons import Reason
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.stages.values import time_or_day
from tests.bad_input import BAD, DEFECTIVE, ENVELOPE, NASTY, TWICE, USABLE
from tests.events import RUN_ID, payload, sealed
from tests.streaming.records import records

VALUES = {**{name: value for name, (value, _) in {**BAD, **DEFECTIVE}.items()}, **USABLE}


@pytest.fixture(scope="module")
def decoded(spark: SparkSession) -> dict[str, Row]:
    """All records in one batch: a bad record must not affect the others."""
    rows = facts(records(spark, list(VALUES.values())), {7: 1}).drop("event").orderBy("offset").collect()
    return dict(zip(VALUES, rows, strict=True))


@pytest.fixture(scope="module")
def strictly_decoded(spark: SparkSession) -> dict[str, Row]:
    """The same with `tolerance: strict`."""
    strict = facts(records(spark, list(VALUES.values())), {7: 1}, is_strict=True)
    return dict(zip(VALUES, strict.select("offset", "reason").orderBy("offset").collect(), strict=True))


@pytest.mark.parametrize("name", BAD)
def test_bad_records_have_their_reason(decoded: dict[str, Row], name: str) -> None:
    assert decoded[name].reason == BAD[name][1].value


@pytest.mark.parametrize("name", DEFECTIVE)
def test_defective_events_are_used_and_have_their_defect(decoded: dict[str, Row], name: str) -> None:
    assert (decoded[name].reason, decoded[name].defects) == (None, [DEFECTIVE[name][1].value])


@pytest.mark.parametrize("name", DEFECTIVE)
def test_most_defects_are_fatal_if_strict(strictly_decoded: dict[str, Row], name: str) -> None:
    reason = FATAL_IF_STRICT.get(DEFECTIVE[name][1])
    assert strictly_decoded[name].reason == (reason and reason.value)


def test_strict_does_not_change_the_other_records(decoded: dict[str, Row], strictly_decoded: dict[str, Row]) -> None:
    for name in (*BAD, *USABLE):
        assert strictly_decoded[name].reason == decoded[name].reason


def test_every_reason_and_every_defect_is_shown_by_a_record() -> None:
    found = {reason for _, reason in BAD.values()} | {*FATAL_IF_STRICT.values()}
    assert found == {*Reason} - {Reason.CANNOT_BE_PROCESSED}
    of_principal = {*OF_RECORD} - {Defect.EVENT_TIME_IN_FUTURE}
    assert {defect for _, defect in DEFECTIVE.values()} == {*Defect} - of_principal


def test_of_equal_keys_the_last_one_counts(decoded: dict[str, Row]) -> None:
    assert decoded["a key twice"].event_type == "FAIL"
    assert decoded["a facet twice with two texts"].error_message == "last"


def test_an_event_with_equal_facets_is_written_without_the_earlier_ones(spark: SparkSession) -> None:
    [row] = facts(records(spark, [TWICE]), {}).collect()
    assert json.loads(row.event) == json.loads(TWICE)
    assert "first" not in row.event


def test_of_a_wrong_type_only_the_member_itself_is_left_out(decoded: dict[str, Row]) -> None:
    assert decoded["a run facet that is text"].error_message == '{"a":1.0E15}'
    assert [read.name for read in decoded["an input that is a number"].inputs] == ["t"]


def test_equal_facets_are_found_next_to_a_wrong_type(spark: SparkSession) -> None:
    dataset = {"namespace": "db", "name": "t", "facets": {"stats": {"rowCount": 1}, "@": {"rowCount": 2}}}
    run = {"runId": RUN_ID, "facets": {"x": 5, "errorMessage": {"message": "first"}, "@": "last"}}
    in_list = payload(inputs=[5, dataset]).replace(b'"@"', b'"stats"')
    in_run = payload(run=run).replace(b'"@"', b'"errorMessage"')
    of_list, of_run = facts(records(spark, [in_list, in_run]), {}).orderBy("offset").collect()
    assert sorted(of_list.defects) == sorted(of_run.defects) == ["duplicate_json_key", "wrong_type"]
    assert [read.row_count for read in of_list.inputs] == [2]
    assert of_run.error_message is None  # the last one counts, and is no object


def test_times_are_such_as_readers_in_python_can_hold(spark: SparkSession) -> None:
    facet = {"nominalStartTime": "9999-12-31T23:59:59-14:00"}
    stated = facts(records(spark, [payload(run={"runId": RUN_ID, "facets": {"nominalTime": facet}})]), {})
    assert stated.select(F.year("nominal_start_at").alias("year")).collect() == [Row(year=9999)]
    texts = ("2026-01-31", "10:00:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00", "+12026-01-01")
    frame = spark.createDataFrame([(text,) for text in texts], "text STRING")
    found = [row.is_read for row in frame.select(time_or_day(F.col("text")).isNotNull().alias("is_read")).collect()]
    assert found == [True, False, False, False, False]


def test_a_time_in_the_future_ranks_as_the_time_of_the_record(decoded: dict[str, Row]) -> None:
    for name in ("far ahead", "after the last year"):
        assert decoded[name].event_time == decoded[name].timestamp


def test_an_envelope_may_state_a_time_after_the_last_year(spark: SparkSession) -> None:
    value = sealed(payload(eventTime="9999-12-31T23:59:59-14:00")).encode()
    [row] = facts(records(spark, [value]), {}).select("reason", "defects").collect()
    assert (row.reason, row.defects) == (None, ["event_time_in_future"])


def test_other_datasets_than_the_nameless_are_kept(decoded: dict[str, Row]) -> None:
    assert [output.name for output in decoded["nameless input"].outputs] == ["out"]
    assert decoded["nameless input"].inputs == []


def test_an_empty_producer_is_none(decoded: dict[str, Row]) -> None:
    assert decoded["an empty producer"].producer is None
    assert decoded["no schemaURL"].schema_url is None


def test_usable_events_have_no_defect(decoded: dict[str, Row]) -> None:
    assert {name: decoded[name].defects for name in USABLE} == dict.fromkeys(USABLE)


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
