"""Runs: context manager, decorator, ledger, certificates, nesting."""

import asyncio
import contextlib
import threading
from pathlib import Path
from typing import Any

import pytest
from openlineage.client import event_v2 as ol

from lineproof.producers.chain import Chain
from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.datasets import input_dataset, output_dataset
from lineproof.producers.decorator import NotAJob
from lineproof.producers.emitter import Emitter
from lineproof.producers.run import IncompleteLineage, abort_open_runs, current_run
from lineproof.schemas import certificates
from lineproof.schemas.envelope import Envelope
from lineproof.schemas.openlineage import InvalidEvent
from tests.transport import Memory

IN, OUT = DatasetName("db", "in"), DatasetName("db", "out")


def names(datasets: list[dict[str, Any]]) -> list[str]:
    return [dataset["name"] for dataset in datasets]


def test_start_declares_inputs_and_complete_carries_outputs(emitter: Emitter, memory: Memory) -> None:
    with emitter.run("job", inputs=[input_dataset(IN)]) as run:
        run.add_output(output_dataset(OUT, row_count=3))
    start, complete = memory.documents
    assert memory.types == ["START", "COMPLETE"]
    assert (names(start["inputs"]), names(start["outputs"])) == (["in"], [])
    assert (names(complete["inputs"]), names(complete["outputs"])) == (["in"], ["out"])
    assert complete["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 3
    assert {envelope.run_id for envelope in memory.envelopes} == {run.run_id}
    assert set(memory.keys) == {run.run_id.encode()}
    assert run.run_id[14] == "7"


def test_datasets_may_be_given_by_name(emitter: Emitter, memory: Memory) -> None:
    """Invalid details do not raise."""
    with emitter.run("job", inputs=[IN]) as run:
        run.add_input(OUT, schema={"id": "bigint"})
        run.add_output(OUT, schema={"id": "bigint"}, row_count=3)
        run.add_output(OUT, schema=object())
    complete = memory.documents[-1]
    assert names(complete["inputs"]) == ["in", "out"]
    assert complete["outputs"][0]["facets"]["schema"]["fields"][0]["name"] == "id"
    assert len(complete["outputs"]) == 1
    assert emitter.stats.refused == 1


def test_an_exception_fails_the_run_and_is_raised_unchanged(emitter: Emitter, memory: Memory) -> None:
    """The error is sanitised in the event, but not for the caller."""
    raised = ValueError("no user ann@example.org")
    run = emitter.run("job")
    run.add_output(output_dataset(OUT))
    with pytest.raises(ValueError, match=r"ann@example\.org") as caught, run:
        raise raised
    assert caught.value is raised
    assert memory.types == ["START", "FAIL"]
    assert memory.documents[-1]["outputs"] == []
    facet = memory.facet("errorMessage")
    assert facet["message"] == "ValueError: no user [email]"
    assert "test_run.py" in facet["stackTrace"]
    assert "ann@example.org" not in facet["stackTrace"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_being_stopped_aborts_the_run(emitter: Emitter, memory: Memory, stop: type[BaseException]) -> None:
    with pytest.raises(stop), emitter.run("job"):
        raise stop
    assert memory.types == ["START", "ABORT"]


def test_a_run_ends_only_once(emitter: Emitter, memory: Memory) -> None:
    with emitter.run("job") as run:
        run.fail("the source is empty")
    assert memory.types == ["START", "FAIL"]
    run.complete()
    assert memory.types == ["START", "FAIL"]
    assert emitter.stats.refused == 1


def test_progress_is_sent_at_most_once_a_second(emitter: Emitter, memory: Memory) -> None:
    with emitter.run("job") as run:
        for number in range(1000):
            run.progress(percent=number / 10, records=number)
    running = [document for document in memory.documents if document["eventType"] == "RUNNING"]
    assert 1 <= len(running) < 1000
    facet = running[0]["run"]["facets"]["lineproof_progress"]
    assert (facet["percentComplete"], facet["recordsProcessed"]) == (0.0, 0)


def test_nested_runs_know_parent_and_root(emitter: Emitter, memory: Memory) -> None:
    with emitter.run("outer") as outer, emitter.run("middle") as middle, emitter.run("inner"):
        pass
    assert "parent" not in memory.documents[0]["run"]["facets"]
    parent = memory.facet("parent", 2)
    assert parent["run"]["runId"] == middle.run_id
    assert (parent["job"]["namespace"], parent["job"]["name"]) == ("tests", "middle")
    assert parent["root"]["run"]["runId"] == outer.run_id
    assert current_run() is None


def test_threads_and_tasks_do_not_share_a_parent(emitter: Emitter, memory: Memory) -> None:
    async def task(name: str) -> None:
        with emitter.run(name):
            await asyncio.sleep(0)

    async def both() -> None:
        await asyncio.gather(task("a"), task("b"))

    asyncio.run(both())
    with emitter.run("main"):
        thread = threading.Thread(target=lambda: emitter.run("thread").start())
        thread.start()
        thread.join()
    assert not any("parent" in document["run"]["facets"] for document in memory.documents)


def test_a_decorated_function_is_a_run(emitter: Emitter, memory: Memory) -> None:
    @emitter.job("double", inputs=[input_dataset(IN)])
    def double(number: int) -> int:
        """Twice as much."""
        run = current_run()
        assert run is not None
        run.add_output(output_dataset(OUT))
        return number * 2

    assert double(21) == 42
    assert (double.__name__, double.__doc__) == ("double", "Twice as much.")
    assert memory.types == ["START", "COMPLETE"]
    assert names(memory.documents[1]["outputs"]) == ["out"]


def test_a_decorated_coroutine_is_a_run_until_it_returns(emitter: Emitter, memory: Memory) -> None:
    @emitter.job("slow")
    async def slow() -> str:
        await asyncio.sleep(0)
        assert memory.types == ["START"]
        return "done"

    assert asyncio.run(slow()) == "done"
    assert memory.types == ["START", "COMPLETE"]


def test_a_cancelled_coroutine_is_aborted(emitter: Emitter, memory: Memory) -> None:
    @emitter.job("endless")
    async def endless() -> None:
        await asyncio.Event().wait()

    async def cancel() -> None:
        task = asyncio.create_task(endless())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert memory.types == ["START", "ABORT"]


def test_a_generator_cannot_be_a_job(emitter: Emitter) -> None:
    with pytest.raises(NotAJob, match="generator"):

        @emitter.job("stream")
        def stream() -> Any:
            yield 1


def test_complete_is_sent_only_if_the_ledger_balances(emitter: Emitter, memory: Memory) -> None:
    with emitter.run("job") as run:
        run.ledger.book(read=10, processed=8, filtered=1, errored=1)
    assert memory.types == ["START", "COMPLETE"]
    assert memory.facet("cdme_accountingLedger")["balanced"] is True
    with emitter.run("job") as run:
        run.ledger.book(read=1000, processed=950, filtered=20, errored=5)
    assert memory.types[2:] == ["START", "FAIL"]
    assert run.state == "FAIL"
    assert memory.facet("cdme_accountingLedger")["balanced"] is False
    assert "the difference is 25" in memory.facet("errorMessage")["message"]


def test_certificates_of_all_runs_form_one_chain(memory: Memory, tmp_path: Path) -> None:
    chain = Chain(tmp_path / "chain.jsonl")
    emitter = Emitter(memory, "tests", chain=chain)
    for number in range(3):
        with emitter.run("job") as run:
            sealed = run.certify(
                source_state_hash=f"{number:064x}",
                target_state_hash="f" * 64,
                contract_version="1",
                invariants={"keys are unique": True},
                materiality_thresholds={"amount": "0.01"},
            )
            assert sealed is not None
            assert sealed.run_id == run.run_id
    issued = chain.certificates()
    assert certificates.verify(issued) is None
    assert memory.types == ["START", "OTHER", "COMPLETE"] * 3
    assert memory.facet("cdme_fidelityCertificate", -1) == memory.facet("cdme_fidelityCertificate", -2)
    facets = [memory.facet("cdme_fidelityCertificate", position) for position in (1, 4, 7)]
    assert [facet["chainHash"] for facet in facets] == [certificate.chain_hash for certificate in issued]


def test_without_a_chain_certify_returns_none_and_the_run_continues(emitter: Emitter, memory: Memory) -> None:
    with emitter.run("job") as run:
        assert run.certify(source_state_hash="a", target_state_hash="b", contract_version="1", invariants={}) is None
    assert memory.types == ["START", "COMPLETE"]
    assert emitter.stats.refused == 1


def test_strict_mode_refuses_a_dataset_without_schema(memory: Memory) -> None:
    strict = Emitter(memory, "tests", strict=True)
    with pytest.raises(IncompleteLineage, match="schema"):
        strict.run("job", inputs=[ol.InputDataset("db", "in")]).start()
    with pytest.raises(IncompleteLineage, match="row"), strict.run("job") as run:
        run.add_output(output_dataset(OUT, schema={"id": "bigint"}))
    assert memory.types == ["START", "FAIL"]
    with strict.run("job", inputs=[input_dataset(IN, schema={"id": "bigint"})]) as run:
        run.add_output(output_dataset(OUT, schema={"id": "bigint"}, row_count=0))
    assert memory.types[2:] == ["START", "COMPLETE"]


@pytest.mark.parametrize("value", [object(), float("nan"), "lone \ud800 surrogate"])
@pytest.mark.parametrize("end", ["COMPLETE", "FAIL", "ABORT"])
def test_an_invalid_facet_does_not_suppress_the_end_of_a_run(
    emitter: Emitter, memory: Memory, value: object, end: str
) -> None:
    raised = {"COMPLETE": None, "FAIL": ValueError("no"), "ABORT": KeyboardInterrupt()}[end]
    run = emitter.run("job")
    with contextlib.suppress(ValueError, KeyboardInterrupt), run:
        run.add_facet("acme_odd", {"_schemaURL": "urn:x", "value": value})
        if raised:
            raise raised
    assert memory.types == ["START", end]
    assert run.state == end
    assert emitter.stats.refused == 1
    assert ("errorMessage" in memory.documents[-1]["run"]["facets"]) == (end == "FAIL")


def test_strict_mode_fails_a_run_with_an_invalid_end(memory: Memory) -> None:
    strict = Emitter(memory, "tests", strict=True)
    run = strict.run("job").start()
    run.add_facet("cdme_execution", {"not": "valid"})
    with pytest.raises(InvalidEvent), run:
        pass
    assert memory.types == ["START", "FAIL"]
    assert run.state == "FAIL"


def test_ctrl_c_during_complete_aborts_the_run(memory: Memory) -> None:
    class Interrupted(Memory):
        def publish(self, key: bytes, envelope: Envelope) -> None:
            if envelope.event_type == "COMPLETE":
                raise KeyboardInterrupt
            super().publish(key, envelope)

    interrupted = Interrupted()
    with pytest.raises(KeyboardInterrupt), Emitter(interrupted, "tests").run("job"):
        pass
    assert interrupted.types == ["START", "ABORT"]


def test_adding_an_input_again_replaces_it(emitter: Emitter, memory: Memory) -> None:
    with emitter.run("job", inputs=[IN]) as run:
        run.add_input(IN, row_count=7)
    [dataset] = memory.documents[-1]["inputs"]
    assert dataset["inputFacets"]["inputStatistics"]["rowCount"] == 7


def test_strict_mode_does_not_replace_the_exception_of_the_service(memory: Memory) -> None:
    strict = Emitter(memory, "tests", strict=True)
    run = strict.run("job").start()
    run.add_facet("cdme_execution", {"not": "valid"})
    with pytest.raises(ZeroDivisionError), run:
        _ = 1 / 0


def test_open_runs_are_aborted_when_the_process_is_stopped(emitter: Emitter, memory: Memory) -> None:
    run = emitter.run("job").start()
    emitter.run("job").start().complete()
    abort_open_runs()
    assert memory.types == ["START", "START", "COMPLETE", "ABORT"]
    assert memory.envelopes[-1].run_id == run.run_id
