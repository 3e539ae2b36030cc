"""What `lineproof status` says about a job, from its heartbeat."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from lineproof.local.job_state import job_state, query_states
from lineproof.schemas.heartbeat import FILE, INTERVAL_S, MISSED, machine
from lineproof.serving.job_heartbeat import JobHeartbeat, read_heartbeat

NOW = 1_763_496_000.0
THIS = psutil.Process()

CURATE = {
    **{"state": "running", "since": NOW - 60, "batch": 3, "rows": 20, "seconds": 1.25, "ended_at": NOW - 61},
    **{"records_per_second": 2.5, "position": None},
}


def heartbeat(**changes: Any) -> JobHeartbeat:
    process = {"machine": machine(), "pid": THIS.pid, "pid_started": THIS.create_time()}
    times = {"started_at": NOW - 100, "at": NOW - 5, "interval_s": INTERVAL_S}
    return JobHeartbeat({"state": "running", "error": "", "queries": {}, **process, **times, **changes})


SEEN = "last seen 2025-11-18 19:59:55 UTC"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "running (process OURS)"),
        ({"state": "starting"}, "starting (process OURS)"),
        ({"state": "stopping"}, "stopping (process OURS)"),
        ({"state": "stopped"}, f"stopped, {SEEN}"),
        ({"state": "failed", "error": "The disk is full."}, f"failed, {SEEN}: The disk is full."),
        ({"machine": "cluster-7:402", "pid": 12}, "running (process 12 on cluster-7)"),
        # Another process has its number.
        ({"pid_started": 1.0}, f"ended without being stopped, {SEEN}"),
        ({"pid_started": 1.0, "state": "stopping"}, f"stopped, {SEEN}"),
    ],
)
def test_the_state_of_the_job(changes: dict[str, Any], says: str) -> None:
    assert job_state(heartbeat(**changes), None, NOW) == says.replace("OURS", str(THIS.pid))


def test_a_job_that_was_killed_has_ended() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert job_state(heartbeat(pid=child.pid), None, NOW) == f"ended without being stopped, {SEEN}"


def test_a_job_without_a_heartbeat_for_a_while_does_not_respond() -> None:
    late = NOW - 5 + MISSED * INTERVAL_S
    assert job_state(heartbeat(), None, late) == f"not responding (process {THIS.pid}), {SEEN}"


def test_without_a_heartbeat_the_service_is_what_its_process_is() -> None:
    assert job_state(None, None, NOW) == "stopped"
    assert job_state(None, THIS, NOW) == f"running (process {THIS.pid})"
    assert job_state(heartbeat(state="stopped", pid=1), THIS, NOW) == f"running (process {THIS.pid})"


def test_the_rows_about_a_query() -> None:
    last = "batch 3: 20 records in 1.2 s, at 2025-11-18 19:58:59 UTC"
    rows = dict(query_states(heartbeat(queries={"curate": CURATE}), NOW))
    assert rows == {
        "state of curate": "running a batch for 60 s",
        "last batch of curate": last,
        "records per second of curate": 2.5,
    }
    stalled = heartbeat(queries={"curate": {**CURATE, "state": "stalled", "since": NOW - 1_800}})
    assert dict(query_states(stalled, NOW))["state of curate"] == "stalled: its batch has run for 30 min"
    stopped = heartbeat(queries={"curate": CURATE}, state="stopped")
    assert dict(query_states(stopped, NOW)) == {"state of curate": "stopped", "last batch of curate": last}


def test_a_heartbeat_is_read_from_the_checkpoints(tmp_path: Path) -> None:
    assert read_heartbeat(str(tmp_path)) is None
    assert read_heartbeat("s3a://bucket/checkpoints") is None
    file = tmp_path / FILE
    file.parent.mkdir()
    file.write_text(json.dumps(heartbeat().document))
    assert read_heartbeat(str(tmp_path)) == heartbeat()
    file.write_text("{")
    assert read_heartbeat(str(tmp_path)) is None
