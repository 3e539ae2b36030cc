"""Events from large files onto the topic (R48): nothing is lost when it is stopped, and what is wrong is named."""

import gzip
from pathlib import Path

import pytest

from lineproof.schemas.envelope import Envelope, decode
from lineproof.settings import Settings
from lineproof.topics import load as emit
from lineproof.topics.cluster import Kafka
from lineproof.topics.load import Load
from tests.end_to_end.tools import consumed
from tests.events import payload


def test_a_load_that_was_stopped_goes_on(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit, "AT_A_TIME", 50)
    events = [payload(job={"namespace": "n", "name": f"job-{number}"}) for number in range(500)]
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl.gz"
    lines = [*events[:100], b'{"eventType": "START"', *events[100:300], b"{}"]
    first.write_bytes(b"\n".join(lines) + b"\n")
    second.write_bytes(gzip.compress(b"\n".join(events[300:])))
    files = [str(first), str(second)]
    complaints: list[str] = []

    def stop(after: int) -> None:
        load = Load(files, settings)

        def report(sent: int, read: int) -> None:
            assert read <= (load.bytes or 0)
            if sent >= after:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            load.run(complaints.append, report)

    stop(after=120)
    assert 120 <= Load(files, settings).position.sent < 300, "where it was"
    stop(after=330)
    done = Load(files, settings)
    assert (done.position.file, done.position.refused) == (1, 2)
    position = done.run(complaints.append, lambda *_: None)
    assert (position.sent, position.refused) == (500, 2)
    assert [one.partition(": ")[0] for one in complaints] == [f"{first}:101", f"{first}:302"], "each once"

    topic = settings.topics.events
    count = sum(end - begin for begin, end in Kafka(settings.kafka).offsets(topic).values())
    envelopes = [decode(message.value()) for message in consumed(settings, topic, count)]
    there = [one.payload for one in envelopes if isinstance(one, Envelope)]
    assert sorted(there) == sorted(events), "none is missing, and here none came twice"
    assert Load(files, settings).position.sent == 0, "the next one begins anew"
    first.write_bytes(b"\n".join(lines))
    assert Load(files, settings).position.sent == 0
