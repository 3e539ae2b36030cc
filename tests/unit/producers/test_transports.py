"""The console, file and composite transports."""

import json
from pathlib import Path

import pytest

from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.base import EndpointUnavailable
from lineproof.producers.transports.composite import CompositeTransport
from lineproof.producers.transports.lines import ConsoleTransport, FileTransport
from lineproof.schemas.envelope import Envelope
from lineproof.schemas.openlineage import parse
from tests.transport import Memory


def test_the_console_transport_writes_one_event_per_line(capsys: pytest.CaptureFixture[str]) -> None:
    emitter = Emitter(ConsoleTransport(), "tests")
    with emitter.run("job"):
        pass
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["eventType"] for line in lines] == ["START", "COMPLETE"]
    assert emitter.stats.delivery.delivered == 2


def test_several_emitters_can_share_a_file(tmp_path: Path) -> None:
    file = tmp_path / "new" / "events.jsonl"
    for _ in range(2):
        Emitter(FileTransport(file), "tests").run("job").start()
    assert [parse(line).event_type for line in file.read_bytes().splitlines()] == ["START", "START"]


def test_a_file_that_cannot_be_written_loses_events_and_does_not_raise(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    transport = FileTransport(tmp_path)
    with pytest.raises(EndpointUnavailable, match="Is a directory"):
        transport.confirm(1)
    emitter = Emitter(transport, "tests")
    emitter.run("job").start()
    assert emitter.stats.delivery.lost == 1
    assert "is lost" in caplog.text


class Broken(Memory):
    fallback = "the spool"

    def publish(self, key: bytes, envelope: Envelope) -> None:
        raise RuntimeError("broken")

    def flush(self, timeout_s: float) -> bool:
        return False


def test_a_failing_transport_does_not_affect_the_others() -> None:
    first, last = Memory(), Memory()
    composite = CompositeTransport([first, Broken(), last])
    Emitter(composite, "tests").run("job").start()
    assert first.types == last.types == ["START"]
    assert composite.stats.delivered == 2
    assert composite.flush(1) is False
    assert composite.fallback is None
    assert CompositeTransport([Broken()]).fallback == "the spool"


def test_an_empty_composite_switches_lineage_off() -> None:
    emitter = Emitter(CompositeTransport([]), "tests")
    with emitter.run("job"):
        pass
    assert emitter.stats.emitted == 2
    assert emitter.stats.delivery.taken == 0
    assert emitter.close()
