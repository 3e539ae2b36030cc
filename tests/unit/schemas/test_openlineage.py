"""Validation of events, and their Kafka keys."""

from datetime import datetime, timezone
from typing import Any

import pytest

from lineproof.schemas.openlineage import InvalidEvent, parse, parse_instant
from tests.events import ABSENT, RUN_ID, payload

FACET = {"_producer": "https://example.com", "_schemaURL": "https://example.com/facet.json"}


@pytest.mark.parametrize("event_type", ["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"])
def test_run_events_of_every_type(event_type: str) -> None:
    event = parse(payload(eventType=event_type))
    assert (event.kind, event.event_type, event.run_id, event.key) == ("RUN", event_type, RUN_ID, RUN_ID.encode())


def test_event_type_may_be_absent() -> None:
    assert parse(payload(eventType=ABSENT)).event_type is None


def test_dataset_and_job_events_are_recognised_by_their_members() -> None:
    dataset = parse(payload(run=ABSENT, job=ABSENT, dataset={"namespace": "db", "name": "t"}))
    job = parse(payload(run=ABSENT))
    assert (dataset.kind, dataset.key) == ("DATASET", b"dataset:db/t")
    assert (job.kind, job.key) == ("JOB", b"job:tests/job")


def test_run_ids_are_compared_in_lower_case() -> None:
    assert parse(payload(run={"runId": RUN_ID.upper()})).run_id == RUN_ID


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"eventTime": ABSENT}, "eventTime"),
        ({"eventTime": "2026-01-31T10:00:00"}, "eventTime"),
        ({"eventTime": "2016-12-31T23:59:60Z"}, "eventTime"),
        ({"eventTime": "0000-01-01T00:00:00Z"}, "eventTime"),
        ({"eventType": "PAUSE"}, "eventType"),
        ({"run": {"runId": "run-1"}}, "run.runId"),
        ({"job": {"namespace": "tests"}}, "job"),
        ({"job": {"namespace": "tests", "name": "half \udc80"}}, "job_name"),
        ({"inputs": {}}, "inputs"),
        ({"inputs": [{"namespace": "db", "name": ""}]}, "inputs.0.name"),
        ({"run": {"runId": RUN_ID, "facets": {"mine": {}}}}, "run.facets.mine"),
        ({"run": ABSENT, "job": ABSENT}, "neither a run"),
    ],
)
def test_the_message_names_the_invalid_member(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidEvent, match=named):
        parse(payload(**changes))


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b'{"run": 1, "run": 2}', b"[" * 100_000])
def test_other_documents_are_refused(body: bytes) -> None:
    with pytest.raises(InvalidEvent):
        parse(body)


def test_custom_facets_are_accepted() -> None:
    assert parse(payload(run={"runId": RUN_ID, "facets": {"mine": {**FACET, "deep": [{"x": 1}]}}}))


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-01-31T10:00:00Z", datetime(2026, 1, 31, 10, tzinfo=timezone.utc)),
        ("2026-01-31T10:00:00.5z", datetime(2026, 1, 31, 10, microsecond=500_000, tzinfo=timezone.utc)),
        ("2026-01-31T12:00:00.123456789+02:00", datetime(2026, 1, 31, 10, microsecond=123_456, tzinfo=timezone.utc)),
    ],
)
def test_instants(text: str, instant: datetime) -> None:
    assert parse_instant(text) == instant
