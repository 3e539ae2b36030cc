"""How far the tables are behind: never called up to date without evidence."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from lineproof.schemas.heartbeat import FILE
from lineproof.serving import job_heartbeat
from lineproof.serving.answers.installation import Installation
from lineproof.serving.answers.lag import Lag, lag


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing heartbeat is not waited for."""
    monkeypatch.setattr(job_heartbeat, "PAUSE_S", 0)


def lag_of(checkpoints: Path, *, ago: float = 0, state: str = "running", **query: Any) -> Lag:
    now = time.time()
    waiting = {"state": "waiting", "since": None, "ended_at": now - 5, **query}
    file = checkpoints / FILE
    file.parent.mkdir(exist_ok=True)
    queries = {"ingest": waiting, "curate": waiting}
    file.write_text(json.dumps({"state": state, "at": now - ago, "interval_s": 10, "queries": queries}))
    return lag(Installation("1.0", str(checkpoints)))


def test_a_running_job_says_how_far_it_is(tmp_path: Path) -> None:
    found = lag_of(tmp_path, ago=4)
    assert (found.trust, found.seconds, found.text) == ("proven", 4, "everything up to 4 s ago is in the tables")


def test_what_a_long_batch_reads_is_not_there_yet(tmp_path: Path) -> None:
    found = lag_of(tmp_path, state="running", since=time.time() - 300)
    assert (found.trust, found.seconds) == ("unknown", 300)
    assert found.text == "everything up to 5 min ago is in the tables"


@pytest.mark.parametrize(
    ("heartbeat", "trust", "text"),
    [
        ({"state": "stopped", "ago": 7200}, "unknown", "the job stopped 2 h ago: later events are not in the tables"),
        ({"state": "failed", "ago": 3}, "unknown", "the job was failed 3 s ago: later events are not in the tables"),
        ({"ago": 600}, "unknown", "the job gave no sign of life since 10 min ago"),
        ({"ended_at": None}, "unknown", "the job has not finished a batch yet"),
    ],
)
def test_without_evidence_it_is_unknown(tmp_path: Path, heartbeat: Any, trust: str, text: str) -> None:
    found = lag_of(tmp_path, **heartbeat)
    assert (found.trust, found.text, found.seconds) == (trust, text, None)


def test_a_batch_that_does_not_end_is_broken(tmp_path: Path) -> None:
    now = time.time()
    stalled = {"state": "stalled", "since": now - 5000, "ended_at": now - 6000}
    (tmp_path / "job").mkdir()
    document = {"state": "running", "at": now, "interval_s": 10, "queries": {"ingest": stalled, "curate": stalled}}
    (tmp_path / FILE).write_text(json.dumps(document))
    assert lag(Installation("1.0", str(tmp_path))).trust == "broken"


def test_without_a_heartbeat_it_is_unknown(tmp_path: Path) -> None:
    assert lag(Installation("1.0", str(tmp_path))).trust == "unknown"
    assert lag(Installation("1.0")).trust == "unknown"
