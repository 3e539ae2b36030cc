"""Load events from large files: a load that is stopped loses nothing, and invalid events are named."""

import gzip
from pathlib import Path

import pytest

from lineproof.local.load import load_files
from lineproof.schemas.envelope import Envelope, decode
from lineproof.settings import Settings
from lineproof.topics import load
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.tools import consumed
from tests.events import payload


def test_a_load_that_was_stopped_continues(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "EVENTS_PER_CHECKPOINT", 50)
    events = [payload(job={"namespace": "n", "name": f"job-{number}"}) for number in range(500)]
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl.gz"
    lines = [*events[:100], b'{"eventType": "START"', *events[100:300], b"{}"]
    first.write_bytes(b"\n".join(lines) + b"\n")
    second.write_bytes(gzip.compress(b"\n".join(events[300:])))
    files = [str(first), str(second)]
    problems: list[str] = []

    def stop(after: int) -> None:
        stopping = load_files(files, settings)

        def report(sent: int, read: int) -> None:
            assert read <= (stopping.bytes or 0)
            if sent >= after:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            stopping.run(problems.append, report)

    stop(after=120)
    assert 120 <= load_files(files, settings).progress.sent < 300, "continues there"
    stop(after=330)
    done = load_files(files, settings)
    assert (done.progress.file, done.progress.refused) == (1, 2)
    progress = done.run(problems.append, lambda *_: None)
    assert (progress.sent, progress.refused) == (500, 2)
    assert [problem.partition(": ")[0] for problem in problems] == [f"{first}:101", f"{first}:302"], "each once"

    topic = settings.topics.events
    count = sum(end - begin for begin, end in KafkaCluster(settings.kafka).offsets(topic).values())
    envelopes = [decode(message.value()) for message in consumed(settings, topic, count)]
    received = [envelope.payload for envelope in envelopes if isinstance(envelope, Envelope)]
    assert sorted(received) == sorted(events), "none is missing, and here none came twice"
    assert load_files(files, settings).progress.sent == 0, "the next load starts from the beginning"
    first.write_bytes(b"\n".join(lines))
    assert load_files(files, settings).progress.sent == 0
