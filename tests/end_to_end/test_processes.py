"""However the Python process ends, its JVM does, too; and a stop ends whatever Spark is doing."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from lineproof.local.broker_state import running_broker
from lineproof.local.jvm_guard import GRACE_S
from lineproof.local.services import Service
from lineproof.local.stop_deadline import EXIT_TIMEOUT_S, TIMEOUT_S
from tests.end_to_end.busy import BUSY
from tests.end_to_end.tools import lineproof
from tests.events import payload
from tests.jvm_options import SPARK_OPTIONS

ROOT = Path(__file__).parents[2]
SLACK_S = 20
"""For a machine that has other things to do."""


@contextmanager
def busy(*arguments: str, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run tests/end_to_end/busy.py. Its processes end with the test, also if it fails."""
    with log.open("wb") as output:
        python = subprocess.Popen(
            [sys.executable, "-m", "tests.end_to_end.busy", *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=output,
            stderr=output,
        )
    children: list[psutil.Process] = []
    try:
        yield python
    finally:
        if python.poll() is None:
            children = psutil.Process(python.pid).children(recursive=True)
            python.kill()
            python.wait()
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()


def wait_for(words: str, log: Path, timeout_s: float = 180) -> None:
    deadline = time.monotonic() + timeout_s
    while words not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)


def descendants(python: "subprocess.Popen[bytes]") -> tuple[psutil.Process, psutil.Process]:
    """The JVM of Spark, and its guard."""
    children = psutil.Process(python.pid).children(recursive=True)
    [jvm] = [child for child in children if "org.apache.spark.deploy.SparkSubmit" in command(child)]
    [guard] = [child for child in children if "lineproof-jvm-guard" in command(child)]
    return jvm, guard


def command(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):  # it has just ended
        return process.cmdline()
    return []


def assert_gone(processes: tuple[psutil.Process, ...], timeout_s: float) -> None:
    _, alive = psutil.wait_procs(processes, timeout_s)
    for process in alive:
        process.kill()
    assert alive == []


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGTERM])
def test_the_jvm_ends_with_python_in_the_middle_of_a_computation(ended_by: signal.Signals, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with busy("session", str(tmp_path / "home"), log=log) as python:
        wait_for(BUSY, log)
        jvm, guard = descendants(python)
        assert guard.memory_info().rss < 8 << 20
        # Stopped, it can do nothing politely: neither see the end of Python, nor run its shutdown hooks.
        jvm.suspend()
        began = time.monotonic()
        python.send_signal(ended_by)
        assert python.wait(10) == -ended_by
        assert_gone((jvm, guard), GRACE_S + SLACK_S)
        assert time.monotonic() - began > GRACE_S - 1, "it has time to end by itself"


@contextmanager
def busy_service(home: Path, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """`lineproof up` in the foreground, whose batch of curate never ends."""
    chosen = {"home": home, "trigger": "1s", "stalled_after": "30s", **SPARK_OPTIONS}
    options = [f"--set={name}={value}" for name, value in chosen.items()]
    event = home.parent / "event.jsonl"
    event.write_bytes(payload() + b"\n")
    try:
        with busy("up", *options, log=log) as python:
            deadline = time.monotonic() + 180
            while Service(home).process() is None:
                assert python.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.2)
            assert lineproof("load", str(event), f"--set=home={home}").returncode == 0
            wait_for(BUSY, log)
            yield python
    finally:
        lineproof("down", f"--set=home={home}")


def status(home: Path) -> dict[str, Any]:
    answer = lineproof("status", f"--set=home={home}", "-o", "json")
    assert answer.returncode == 0, answer.stderr
    return {row["what"]: row["state"] for row in json.loads(answer.stdout)}


def test_a_stalled_query_is_reported_and_a_second_ctrl_c_ends_it(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    with busy_service(home, log) as python:
        processes = descendants(python)
        wait_for("Query curate has stalled", log)
        assert "Query curate has stalled" in (home / "logs" / "job.log").read_text()
        deadline = time.monotonic() + 60
        while not (seen := status(home))["state of curate"].startswith("stalled"):
            assert time.monotonic() < deadline, seen
        assert seen["job"] == f"running (process {python.pid})"
        assert seen["state of graph"] == "waiting"
        assert seen["last batch of ingest"].startswith("batch ")
        assert seen["records not archived yet"] == 0
        assert seen["records not curated yet"] == seen["rows of archive"] > 0

        python.send_signal(signal.SIGINT)
        wait_for("Waiting up to", log)
        assert python.poll() is None, log.read_text()
        python.send_signal(signal.SIGINT)
        assert python.wait(EXIT_TIMEOUT_S + SLACK_S) == 0, log.read_text()
        assert_gone(processes, 5)
        assert running_broker(home / "broker") is None
        assert "Traceback" not in log.read_text()
        assert log.read_text().count("Query curate has stalled") == 1
        assert status(home)["job"].startswith("stopped, last seen")


@pytest.mark.faults
def test_down_ends_a_job_that_cannot_stop(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    with busy_service(home, log) as python:
        processes = descendants(python)
        began = time.monotonic()
        down = lineproof("down", f"--set=home={home}")
        assert time.monotonic() - began < 60 + SLACK_S
        assert down.returncode == 0
        assert "Waiting up to" in down.stderr
        assert down.stderr.strip().endswith("Stopped.")
        assert python.wait(1) == 0, log.read_text()
        assert time.monotonic() - began > TIMEOUT_S, "running batches have time to stop"
        assert_gone(processes, 5)
        assert running_broker(home / "broker") is None
        assert "Traceback" not in log.read_text()


@pytest.mark.faults
def test_a_job_whose_jvm_was_killed_says_so(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    with busy_service(home, log) as python:
        jvm, _ = descendants(python)
        jvm.kill()
        assert python.wait(60) == 1, log.read_text()
        assert "Spark's JVM has ended, killed by signal 9" in log.read_text()
        assert "Traceback" not in log.read_text()
        assert running_broker(home / "broker") is None
