"""What a forward does with answers and with records that are no events. With Kafka: tests/end_to_end."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from typer.testing import CliRunner, Result

from lineproof.cli.main import app
from lineproof.local.forward import NoTarget, target_of
from lineproof.local.stop_signal import StopSignal
from lineproof.producers.backends.plugin import InvalidBackendConfig
from lineproof.producers.transports.config import HttpConfig
from lineproof.producers.transports.http_client import HttpClient
from lineproof.serving.archive import ArchivedRecord
from lineproof.settings import Settings
from lineproof.topics import forward as library
from lineproof.topics.forward import BackendRefuses, Forward
from lineproof.topics.forward_sources import ArchiveSource, Positions, SourceBatch
from lineproof.topics.forward_state import ForwardRunning, ForwardState
from tests import backend as backends
from tests.arrow import BYTES, COORDINATES
from tests.backend import BATCH, Backend, Reply, Request
from tests.events import payload, sealed

BEGIN = datetime(2026, 1, 31, tzinfo=timezone.utc)
ARCHIVE = pa.schema([("day", pa.date32()), *COORDINATES, *BYTES])


class ListSource:
    """Records of one partition."""

    def __init__(self, values: Sequence[bytes | None]) -> None:
        self._records = [ArchivedRecord("t", 0, number, b"k", [], value) for number, value in enumerate(values)]

    def count(self, positions: Positions) -> int:
        return len(self._records) - positions.get("t/0", -1) - 1

    def batches(self, positions: Positions) -> Iterator[SourceBatch]:
        if records := self._records[positions.get("t/0", -1) + 1 :]:
            yield SourceBatch("t/0", records)


@pytest.fixture
def backend() -> Iterator[Backend]:
    with backends.running() as server:
        yield server


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(library, "_FIRST_BACKOFF_S", 0.02)
    monkeypatch.chdir(tmp_path)


def event(name: str, **changes: Any) -> bytes:
    return payload(job={"namespace": "tests", "name": name}, **changes)


def names(server: Backend) -> list[str]:
    return [accepted["job"]["name"] for accepted in server.accepted]


def forward(server: Backend, values: Sequence[bytes | None], home: Path) -> Forward:
    config = HttpConfig(url=server.url)
    return Forward(ListSource(values), HttpClient(config), ForwardState(home, {}, None), {}, StopSignal())


def put_aside(run: Forward) -> list[tuple[str, str]]:
    lines = map(json.loads, run.rejected.path.read_text().splitlines()) if run.rejected.path.exists() else ()
    return [(line["source"], line["reason"]) for line in lines]


def finish(run: Forward, **options: Any) -> Forward:
    with run.state.locked(), run:
        list(run.run(**options))
    return run


def test_events_in_every_framing_arrive(backend: Backend, tmp_path: Path) -> None:
    values = [event("plain"), sealed(event("sealed")).encode(), sealed(event("registered")).encode(schema_id=7)]
    run = forward(backend, values, tmp_path)
    run._schema_ids = {7: 1}
    finish(run)
    assert names(backend) == ["plain", "sealed", "registered"]
    assert backend.accepted[0] == json.loads(event("plain"))


def test_records_that_are_no_events_are_put_aside(backend: Backend, tmp_path: Path) -> None:
    """None of them damages the batch that it would be in."""
    too_late = sealed(event("late", eventTime="9999-12-31T23:59:59-14:00")).encode()
    broken = [None, b"", b"rubbish", b"{", b'{"a": 1}, {"b": 2}', too_late, b"\xc3\x01xxxxxxxxx"]
    run = finish(forward(backend, [event("first"), *broken, event("last")], tmp_path))
    assert names(backend) == ["first", "last"]
    assert [source for source, _ in put_aside(run)] == [f"t/0/{number}" for number in range(1, 8)]
    assert all(reason for _, reason in put_aside(run))
    assert (run.state.sent, run.state.put_aside) == (2, 7)
    assert run.state.positions == {"t/0": 8}


def test_what_the_backend_refuses_is_put_aside(backend: Backend, tmp_path: Path) -> None:
    backend.judge = lambda request: Reply(422) if '"bad"' in json.dumps(request.body) else None
    run = finish(forward(backend, [event("good"), event("bad"), event("better")], tmp_path))
    assert names(backend) == ["good", "better"]
    [(source, reason)] = put_aside(run)
    assert (source, "422" in reason) == ("t/0/1", True)


def test_an_event_on_which_the_backend_fails_is_put_aside_after_retries(backend: Backend, tmp_path: Path) -> None:
    backend.judge = lambda request: Reply(500) if '"bad"' in json.dumps(request.body) else None
    run = finish(forward(backend, [event("good"), event("bad"), event("better")], tmp_path))
    assert names(backend) == ["good", "better"]
    [(source, reason)] = put_aside(run)
    assert (source, "500" in reason) == ("t/0/1", True)
    bad = [request for request in backend.requests if '"bad"' in json.dumps(request.body) and request.path != BATCH]
    assert len(bad) == 1 + library.RETRIES


@pytest.mark.parametrize("status", [500, 503, 401, 404, 302])
def test_a_backend_that_is_broken_gets_everything_later(backend: Backend, tmp_path: Path, status: int) -> None:
    """Nothing is put aside, however many events there are."""
    backend.judge = lambda _: Reply(status)
    values = [event(f"job-{number}") for number in range(30)]
    broken = forward(backend, values, tmp_path)
    with pytest.raises(BackendRefuses, match=str(status)):
        finish(broken)
    assert put_aside(broken) == []
    assert ForwardState(tmp_path, {}, None).positions == {}
    backend.judge = lambda _: None
    assert finish(forward(backend, values, tmp_path)).state.sent == 30


def test_following_waits_for_the_backend(backend: Backend, tmp_path: Path) -> None:
    backend.replies = [Reply(503)] * 6
    run = forward(backend, [event("a"), event("b")], tmp_path)
    with run.state.locked():
        next(run.run(follow=True))
    assert names(backend) == ["a", "b"]


def test_retry_after_and_the_rate_are_respected(backend: Backend, tmp_path: Path) -> None:
    backend.replies = [Reply(429, headers={"Retry-After": "1"})]
    values = [event(f"job-{number}") for number in range(6)]
    finish(forward(backend, values, tmp_path), rate=3)
    refused, batch, *singles = backend.requests
    assert batch.at - refused.at >= 1
    assert singles[3].at - batch.at >= 0.99, "it does not catch up with more than the rate"
    assert names(backend) == [f"job-{number}" for number in range(6)]


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    with ForwardState(tmp_path, {}, None).locked():
        with pytest.raises(ForwardRunning), ForwardState(tmp_path, {}, None).locked():
            pass
        with ForwardState(tmp_path, {"to": "elsewhere"}, None).locked():
            pass


def archived(home: Path, first: int, count: int, mode: str = "append") -> None:
    rows = [
        {
            **{"topic": "t", "partition": number % 2, "offset": number, "day": BEGIN.date()},
            **{"timestamp": BEGIN + timedelta(hours=number), "key": b"k", "headers": None},
            "value": event(f"job-{number}") if number != 3 else b"rubbish",
        }
        for number in range(first, first + count)
    ]
    table = pa.Table.from_pylist(rows, ARCHIVE)
    write_deltalake(home / "tables" / "archive", table, mode=mode, partition_by=["day"])  # type: ignore[call-overload]


def run_command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["forward", *arguments, "--set", "home=home"], catch_exceptions=True)


def test_the_archive_is_forwarded_once_and_then_what_is_new(backend: Backend, tmp_path: Path) -> None:
    archived(tmp_path / "home", 0, 10)
    dry = run_command(backend.url, "--dry-run")
    assert f"10 records of the archive would go to {backend.url}/api/v1/lineage." in dry.stderr
    assert not backend.requests
    first = run_command(backend.url)
    assert "9 events forwarded" in first.stderr
    assert "1 records could not be forwarded" in first.stderr
    assert first.exit_code == 1
    assert names(backend) == [f"job-{number}" for number in (0, 2, 4, 6, 8, 1, 5, 7, 9)]
    archived(tmp_path / "home", 10, 5)
    second = run_command(backend.url)
    assert (second.exit_code, "Continuing after 9 events" in second.stderr) == (0, True)
    assert "5 events forwarded" in second.stderr
    assert "0 records" in run_command(backend.url, "--dry-run").stderr
    assert len(backend.accepted) == 14


def test_from_a_time(backend: Backend, tmp_path: Path) -> None:
    archived(tmp_path / "home", 0, 10)
    assert run_command(backend.url, "--from", "2026-01-31T08:00Z").exit_code == 0
    assert names(backend) == ["job-8", "job-9"]
    assert "10 records" in run_command(backend.url, "--dry-run").stderr, "another start is another forward"


def test_a_compacted_archive_is_not_forwarded_again(backend: Backend, tmp_path: Path) -> None:
    archived(tmp_path / "home", 10, 5)
    assert run_command(backend.url).exit_code == 0
    archived(tmp_path / "home", 10, 7, mode="overwrite")
    assert run_command(backend.url).exit_code == 0
    assert sorted(names(backend)) == [f"job-{number}" for number in range(10, 17)]


def test_following_the_archive(backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New rows arrive, from versions of the table that did not exist at the start."""
    monkeypatch.setattr(library, "POLL_S", 0.01)
    home = tmp_path / "home"
    archived(home, 10, 4)
    source = ArchiveSource(str(home / "tables"), home, None)
    state = ForwardState(home, {}, None)
    run = Forward(source, HttpClient(HttpConfig(url=backend.url)), state, {}, StopSignal())
    with state.locked(), run:
        progress = run.run(follow=True)
        assert [next(progress), next(progress)] == [2, 4]
        archived(home, 14, 3)
        assert [next(progress), next(progress)] == [6, 7]
    assert sorted(names(backend)) == [f"job-{number}" for number in range(10, 17)]
    assert state.positions == {"t/0": 16, "t/1": 15}


def test_a_backend_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    archived(tmp_path / "home", 0, 2)
    with backends.running() as server:
        url = server.url
    assert "does not answer" in str(run_command(url).exception)


def test_targets(tmp_path: Path) -> None:
    assert target_of(Settings(), "https://a.example/x").address("/y") == "https://a.example/x/y"
    own = Settings(emitter={"url": "https://own.example/", "api_key": "s3cret", "endpoint": "/events"})
    assert target_of(own, "https://own.example").headers == {"Authorization": "Bearer s3cret"}
    assert target_of(own, "https://own.example").batch_endpoint == "/events/batch"
    assert target_of(own, "https://other.example").headers == {}, "the key is for one host"
    chosen = Settings(plugins={"lineage_backend": {"provider": "datahub", "config": {"url": "https://d.example"}}})
    assert target_of(chosen, None) == target_of(chosen, "datahub")
    with pytest.raises(InvalidBackendConfig, match="marquez: url is not set"):
        target_of(chosen, "marquez")
    with pytest.raises(NoTarget, match="marquez"):
        target_of(Settings(), None)
    with pytest.raises(NoTarget, match="replay"):
        target_of(Settings(), "lineproof")


def test_a_request_has_no_more_than_a_hundred_events(tmp_path: Path) -> None:
    seen: list[int] = []

    def judge(request: Request) -> Reply | None:
        seen.append(len(request.events))
        return None

    with backends.running(has_batch=True) as server:
        server.judge = judge
        large = [event(f"large-{number}", producer="https://example.com/" + "x" * 400_000) for number in range(5)]
        values = [*(event(f"job-{number}") for number in range(250)), *large]
        finish(forward(server, values, tmp_path))
        assert names(server) == [json.loads(value)["job"]["name"] for value in values]
    assert seen == [100, 100, 52, 2, 1]
