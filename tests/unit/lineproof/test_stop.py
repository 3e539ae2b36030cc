"""A stop ends, and a JVM ends with its Python process. Another process stands for the JVM here."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from lineproof.local.stop_deadline import StopDeadline
from lineproof.local.stop_signal import StopSignal

SLEEP = ["sleep", "600"]


@pytest.fixture
def other() -> "Iterator[subprocess.Popen[bytes]]":
    process = subprocess.Popen(SLEEP)
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def stop() -> Iterator[StopSignal]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    stop = StopSignal()
    stop.listen()
    yield stop
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_what_hangs_is_ended_after_the_deadline(stop: StopSignal, other: "subprocess.Popen[bytes]") -> None:
    with StopDeadline(stop, other, timeout_s=0.2) as deadline:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop()
        assert other.wait(10) == -signal.SIGKILL
        raise ConnectionRefusedError("the JVM has ended")
    assert deadline.has_passed


def test_a_second_signal_ends_it_at_once(stop: StopSignal, other: "subprocess.Popen[bytes]") -> None:
    with StopDeadline(stop, other, timeout_s=600) as deadline:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert other.wait(10) == -signal.SIGKILL
    assert deadline.has_passed


def test_a_stop_in_time_ends_nothing(stop: StopSignal, other: "subprocess.Popen[bytes]") -> None:
    with StopDeadline(stop, other, timeout_s=600) as deadline:
        os.kill(os.getpid(), signal.SIGTERM)
        deadline.begin()
    assert not deadline.has_passed
    assert other.poll() is None


def test_the_error_of_a_job_that_failed_and_then_hangs_is_kept(
    stop: StopSignal, other: "subprocess.Popen[bytes]"
) -> None:
    def fail_and_hang() -> None:
        with StopDeadline(stop, other, timeout_s=0.2) as deadline:
            deadline.begin()
            other.wait(10)
            raise ValueError("the cause")

    with pytest.raises(ValueError, match="the cause"):
        fail_and_hang()


def test_without_anyone_who_waits_a_second_signal_is_ctrl_c(stop: StopSignal) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    assert stop()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


START = f"""
import subprocess, sys, time
from lineproof.local.jvm_guard import guard_jvm
jvm = subprocess.Popen({SLEEP})
assert guard_jvm(jvm.pid, 1) is guard_jvm(jvm.pid, 1)
print(jvm.pid, guard_jvm(jvm.pid, 1).pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_guarded_process_ends_with_this_one(ended_by: signal.Signals) -> None:
    python = subprocess.Popen([sys.executable, "-c", START], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert python.stdout is not None
    processes = [psutil.Process(int(pid)) for pid in python.stdout.readline().split()]
    python.send_signal(ended_by)
    python.wait(10)
    _, alive = psutil.wait_procs(processes, 20)
    assert alive == []


def test_the_guard_ends_when_the_guarded_process_did() -> None:
    python = subprocess.Popen([sys.executable, "-c", START], stdout=subprocess.PIPE)
    assert python.stdout is not None
    guarded, guard = (psutil.Process(int(pid)) for pid in python.stdout.readline().split())
    guarded.kill()
    python.kill()
    python.wait(10)
    assert psutil.wait_procs([guard], 20)[1] == []
