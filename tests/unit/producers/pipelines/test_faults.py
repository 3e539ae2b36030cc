"""Faults around the pipelines: failed runs, spoiled records, no leaked secrets."""

import re
import threading
from pathlib import Path
from typing import Any

import pytest

from lineproof.producers.chain import Chain
from lineproof.producers.emitter import Emitter
from lineproof.producers.pipelines.faults import Fault
from lineproof.producers.pipelines.platform import Platform
from lineproof.producers.pipelines.runner import PIPELINES
from lineproof.producers.pipelines.sample import MAIL_DOMAIN
from tests.transport import Memory
from tests.unit.producers.pipelines.world import FAULTS, RECORD_FAULTS, World, run_with_fault


@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_a_fault_fails_the_run_or_single_records_and_the_next_run_completes(
    name: str, fault: Fault, finished: World, tmp_path: Path
) -> None:
    memory = Memory()
    emitter = Emitter(memory, "impact", chain=Chain(tmp_path / "chain"), strict=True)
    before = finished.contents()
    with Platform(finished.directory, emitter) as platform:
        error = run_with_fault(platform, name, fault)
        last = memory.documents[-1]
        PIPELINES[name].work(platform)
    assert memory.types[-1] == "COMPLETE", "the fault is gone"
    assert finished.contents() == before
    if fault in RECORD_FAULTS:
        assert (error, last["eventType"]) == (None, "COMPLETE")
        assert last["run"]["facets"]["cdme_accountingLedger"]["erroredCount"] > 0
    else:
        assert last["eventType"] == "FAIL"
        assert type(error).__name__ in last["run"]["facets"]["errorMessage"]["stackTrace"]


def test_api_keys_and_addresses_are_never_sent(unlucky: World) -> None:
    """The errors of external systems repeat both."""
    payloads = b"\n".join(envelope.payload for envelope in unlucky.memory.envelopes)
    assert b"X-Api-Key: [secret]" in payloads
    assert b"[email]" in payloads
    assert unlucky.api_key
    assert unlucky.api_key.encode() not in payloads
    assert MAIL_DOMAIN.encode() not in payloads
    assert not re.search(rb"[\w.]+@[\w-]+\.\w+", payloads)


def test_a_failed_pipeline_does_not_stop_the_others(world: World) -> None:
    results = world.run(fail_rate=1.0, seed=3)
    assert [result.name for result in results] == list(PIPELINES)
    assert {result.state for result in results if result.error is not None} == {"FAIL"}
    assert sum(result.state == "FAIL" for result in results) >= 8
    assert not any(MAIL_DOMAIN in str(result.error) for result in results)
    assert len(world.events("scheduled-reports", "FAIL")) == 1


def test_the_same_seed_gives_the_same_faults(world: World) -> None:
    names = ("sroi-calculation", "vis-calculation", "pdf-export")
    first, second, other = (
        [result.state for result in world.run(*names, repeat=3, fail_rate=0.5, seed=s)] for s in (1, 1, 2)
    )
    assert first == second != other
    assert {"COMPLETE", "FAIL"} == set(first)


def test_ctrl_c_aborts_the_run_and_stops_the_server(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    monkeypatch.setattr(Platform, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        world.run("benevity-sync", "goodera-sync")
    assert world.memory.types == ["START", "RUNNING", "ABORT"]
    assert threading.active_count() == before
