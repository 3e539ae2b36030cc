"""The life cycle as sealed events (R10, R20)."""

import json
from datetime import datetime, timezone

import pytest
from openlineage.client import event_v2 as ol

from lineproof.producers.emitter import Emitter
from lineproof.producers.facets import AccountingLedgerRunFacet
from lineproof.schemas.envelope import Envelope, decode, event_id
from lineproof.schemas.openlineage import InvalidEvent
from tests.events import payload


class Memory:
    """A publisher that keeps what it gets."""

    def __init__(self) -> None:
        self.records: list[tuple[bytes | None, bytes | None]] = []

    def publish(self, key: bytes | None, value: bytes | None) -> None:
        self.records.append((key, value))

    def flush(self, timeout_s: float) -> None:
        pass

    def envelopes(self) -> list[Envelope]:
        return [envelope for _, value in self.records if isinstance(envelope := decode(value), Envelope)]

    def documents(self) -> list[dict[str, object]]:
        return [json.loads(envelope.payload) for envelope in self.envelopes()]


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def emitter(memory: Memory) -> Emitter:
    return Emitter(memory, "tests")


def test_a_run_has_one_id_and_the_key_of_all_its_events(emitter: Emitter, memory: Memory) -> None:
    run = emitter.start("job", inputs=[ol.InputDataset("db", "in")])
    run.emit(ol.RunState.RUNNING)
    run.complete(outputs=[ol.OutputDataset("db", "out")])
    assert [envelope.event_type for envelope in memory.envelopes()] == ["START", "RUNNING", "COMPLETE"]
    assert {envelope.run_id for envelope in memory.envelopes()} == {run.run_id}
    assert {key for key, _ in memory.records} == {run.run_id.encode()}
    assert run.run_id[14] == "7"


def test_envelopes_count_without_a_gap_and_know_their_payload(emitter: Emitter, memory: Memory) -> None:
    for _ in range(3):
        emitter.start("job")
    assert [envelope.sequence for envelope in memory.envelopes()] == [0, 1, 2]
    assert len({envelope.emitter_id for envelope in memory.envelopes()}) == 1
    assert all(envelope.event_id == event_id(envelope.payload) for envelope in memory.envelopes())


def test_failure_and_abort(emitter: Emitter, memory: Memory) -> None:
    emitter.start("job").fail("ValueError: no user ann@example.org")
    emitter.start("job").abort()
    failed = memory.documents()[1]
    assert failed["run"]["facets"]["errorMessage"]["message"] == "ValueError: no user [email]"  # type: ignore[index]
    assert memory.envelopes()[3].event_type == "ABORT"


def test_the_ledger_says_whether_it_balances(emitter: Emitter, memory: Memory) -> None:
    emitter.start("job").complete(ledger=AccountingLedgerRunFacet(10, 8, 1, 1))
    ledger = memory.documents()[1]["run"]["facets"]["cdme_accountingLedger"]  # type: ignore[index]
    assert ledger["balanced"] is True
    assert not AccountingLedgerRunFacet(10, 8).balanced


def test_times_can_be_given(emitter: Emitter, memory: Memory) -> None:
    emitter.start("job", at=datetime(2026, 1, 1, tzinfo=timezone.utc))
    assert memory.envelopes()[0].event_time == datetime(2026, 1, 1, tzinfo=timezone.utc)


def test_dataset_and_job_events(emitter: Emitter, memory: Memory) -> None:
    now = datetime.now(timezone.utc).isoformat()
    emitter.publish(ol.DatasetEvent(eventTime=now, dataset=ol.StaticDataset("db", "t")))
    emitter.publish(ol.JobEvent(eventTime=now, job=ol.Job("tests", "job")))
    assert [envelope.kind for envelope in memory.envelopes()] == ["DATASET", "JOB"]
    assert [key for key, _ in memory.records] == [b"dataset:db/t", b"job:tests/job"]


def test_json_goes_out_byte_for_byte(emitter: Emitter, memory: Memory) -> None:
    body = payload().replace(b", ", b"  ,\n")
    emitter.publish_json(body)
    assert memory.envelopes()[0].payload == body


def test_invalid_events_do_not_leave(emitter: Emitter, memory: Memory) -> None:
    with pytest.raises(InvalidEvent):
        emitter.publish_json(payload(eventTime="yesterday"))
    assert memory.records == []
