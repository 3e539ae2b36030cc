"""`up`, `emit`, `status`, `down`, and `up` again: it continues where it stopped."""

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest

from lineproof.local.server_process import RunningServer
from lineproof.serving.sql import QueryError, Tables
from tests.end_to_end.tools import lineproof
from tests.events import payload
from tests.jvm_options import SPARK_OPTIONS

OPTIONS = {"trigger": "500ms", **SPARK_OPTIONS}
SPARK = [f"--set={name}={value}" for name, value in OPTIONS.items()]


COUNT = "SELECT count(*) AS n FROM runs"


def runs(home: Path) -> int:
    with suppress(QueryError):
        return int(Tables(str(home / "tables")).query(COUNT).rows[0][0])
    return -1


def wait_for_runs(home: Path, count: int, timeout_s: float = 90) -> None:
    """Queries in this process: starting commands would slow the job down."""
    deadline = time.monotonic() + timeout_s
    while runs(home) != count:
        assert time.monotonic() < deadline, lineproof("status", f"--set=home={home}").stdout
        time.sleep(0.5)
    answer = lineproof("sql", COUNT, "-o", "json", f"--set=home={home}")
    assert json.loads(answer.stdout) == [{"n": count}]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_detached_service_and_foreground_service(home: Path, tmp_path: Path) -> None:
    here = f"--set=home={home}"
    event = tmp_path / "events.jsonl"
    event.write_bytes(payload() + b"\n" + payload(eventType="COMPLETE") + b"\nnot an event\n")
    try:
        up = lineproof("up", "--detach", here, *SPARK)
        assert up.returncode == 0, up.stderr
        assert "already running" in lineproof("up", here, *SPARK).stderr
        sent = lineproof("load", str(event), here)
        assert sent.returncode == 1
        assert "events.jsonl:3: Not a JSON document" in sent.stderr
        assert "2 events sent, 1 refused" in sent.stderr
        wait_for_runs(home, 1)
        status = {row["what"]: row["state"] for row in json.loads(lineproof("status", here, "-o", "json").stdout)}
        assert status["rows of archive"] == 2
        assert status["records not archived yet"] == 0
        assert status["records not archived yet of lineage.events"] == 0
        assert status["job"].startswith("running")
        assert status["state of ingest"]
        url = status["server"].removeprefix("running at ")
        taken = httpx.post(
            f"{url}/api/v1/lineage", content=payload(run={"runId": "01890000-0000-7000-8000-000000000009"})
        )
        assert taken.status_code == 201
        wait_for_runs(home, 2)
        assert status["events not in the graph yet"] in (0, 2)
    finally:
        down = lineproof("down", here)
    assert down.stderr.strip().endswith("Stopped.")
    assert lineproof("down", here).stderr.strip().endswith("Nothing was running.")
    assert RunningServer.of(home) is None
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/livez")

    foreground = subprocess.Popen(
        [sys.executable, "-m", "lineproof", "up", here, *SPARK, "--set=quality.run_every=15m"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert foreground.stderr is not None
        while "Running; broker at" not in (line := foreground.stderr.readline()):
            assert line, "the service stopped"
        other = subprocess.run(
            [sys.executable, "-m", "lineproof", "load", "-", here],
            input=payload(run={"runId": "01890000-0000-7000-8000-000000000002"}),
            check=True,
        )
        assert other.returncode == 0
        wait_for_runs(home, 3)
        children = psutil.Process(foreground.pid).children(recursive=True)
    finally:
        foreground.send_signal(signal.SIGINT)
        foreground.wait(90)
    assert foreground.returncode == 0
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []
