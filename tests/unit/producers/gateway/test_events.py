"""The gateway accepts what the job can use, and names the same reasons and defects."""

import uuid

import pytest

from lineproof.producers.gateway.events import GatewayEvent, read_event
from lineproof.producers.gateway.limits import MAX_JSON_DEPTH, GatewayLimits
from lineproof.producers.gateway.refusals import RequestRefused
from lineproof.producers.gateway.splitting import split
from lineproof.schemas.defects import Defect
from lineproof.schemas.envelope import Envelope, decode
from lineproof.schemas.openlineage import parse
from lineproof.schemas.reasons import Reason
from tests.bad_input import BAD, DEFECTIVE, USABLE
from tests.events import ABSENT, payload

EMITTER = str(uuid.UUID(int=2))
UNSEEN = (
    # The job finds them in facets, which the gateway does not look into.
    *(Defect.BAD_COUNT, Defect.TOO_MANY_DATASETS, Defect.TOO_MANY_FACETS, Defect.TOO_MANY_SYMLINKS),
    *(Defect.TOO_MANY_COLUMNS, Defect.FOREIGN_CERTIFICATE),
)


def read(body: bytes) -> GatewayEvent:
    (one,) = split(body, GatewayLimits()).payloads
    return read_event(one, EMITTER)


@pytest.mark.parametrize("name", [name for name, (value, _) in BAD.items() if value and value.startswith(b"{")])
def test_what_the_job_cannot_use_is_refused_for_the_same_reason(name: str) -> None:
    value, reason = BAD[name]
    assert value
    with pytest.raises(RequestRefused) as refused:
        read(value)
    assert refused.value.status == 400
    assert refused.value.code == reason.value


@pytest.mark.parametrize("name", DEFECTIVE)
def test_defects_are_accepted_and_named(name: str) -> None:
    value, defect = DEFECTIVE[name]
    event = read(value)
    if defect in UNSEEN or (name.startswith("facets that are a list")):
        return
    assert defect in event.defects
    if defect is not Defect.EVENT_TIME_IN_FUTURE:
        assert event.value == value, "an event with a defect has no envelope"


@pytest.mark.parametrize("name", [name for name, value in USABLE.items() if value.startswith(b"{")])
def test_unusual_events_are_accepted(name: str) -> None:
    if name == "nested 1,000 deep":  # more than the gateway's default
        return
    event = read(USABLE[name])
    opened = decode(event.value)
    assert (opened.payload if isinstance(opened, Envelope) else opened) == USABLE[name].strip()


def test_an_event_without_defects_is_sealed_as_the_emitter_does() -> None:
    event = read(payload())
    assert event.defects == ()
    assert event.key == parse(payload()).key
    assert decode(event.value) == Envelope.seal(parse(payload()), EMITTER, 0)


def test_job_and_dataset_events_have_the_keys_of_the_emitter() -> None:
    job = payload(run=ABSENT)
    dataset = payload(run=ABSENT, job=ABSENT, dataset={"namespace": "db", "name": "t"})
    assert [read(body).key for body in (job, dataset)] == [parse(body).key for body in (job, dataset)]


def test_a_run_id_in_upper_case_has_the_key_of_its_run() -> None:
    run = str(uuid.UUID(int=11))
    for defect in ({}, {"producer": ABSENT}):
        assert read(payload(run={"runId": run.upper()}, **defect)).key == run.encode()


def test_half_of_a_surrogate_pair_in_a_name_is_sent_as_it_is() -> None:
    body = payload().replace(b'"name": "job"', rb'"name": "\ud800"')
    assert read(body).value == body


def test_the_namespaces_are_those_of_job_and_dataset() -> None:
    body = payload(run=ABSENT, job={"namespace": "a", "name": "j"}, dataset={"namespace": "b", "name": "t"})
    assert set(read(body).namespaces) == {"a", "b"}


def test_a_document_with_very_many_faults_costs_no_memory() -> None:
    body = payload(job={"namespace": "tests", "name": "job", "facets": {f"f{n}": {} for n in range(100_000)}})
    assert read(body).value == body


@pytest.mark.parametrize("depth", [250, 300, MAX_JSON_DEPTH - 10])
def test_deep_events_never_reach_the_limit_of_recursion(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    body = payload()[:-1] + b',"deep":' + deep + b"}"
    assert read_event(body, EMITTER).key
    for place in (b'"namespace": "tests"', b'"runId": "01890000-0000-7000-8000-000000000001"'):
        name = place.partition(b":")[0]
        assert read_event(payload().replace(place, name + b": " + deep), EMITTER).value


@pytest.mark.parametrize(
    ("zone", "is_known"), [("+18:00", True), ("-1800", True), ("+18:01", False), ("+23:59", False)]
)
def test_zones_are_those_that_the_job_reads(zone: str, is_known: bool) -> None:
    body = payload(eventTime=f"2026-01-31T10:00:00{zone}")
    if is_known:
        assert read(body).key
    else:
        with pytest.raises(RequestRefused):
            read(body)


def test_the_field_is_named() -> None:
    for body, field, reason in (
        (payload(eventTime="yesterday"), "eventTime", Reason.BAD_EVENT_TIME),
        (payload(run={}), "run.runId", Reason.BAD_RUN_ID),
        (payload(job={"namespace": "x"}), "job.name", Reason.MISSING_JOB),
    ):
        with pytest.raises(RequestRefused) as refused:
            read(body)
        assert (refused.value.field, refused.value.code) == (field, reason.value)
        assert refused.value.document()["field"] == field
