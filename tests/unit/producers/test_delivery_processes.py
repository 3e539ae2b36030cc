"""Delivery when real processes exit, fork or are killed: no event is lost."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO

import pytest

from tests.delivery import PATIENCE_S, Deliver, Endpoint, Hanging, Sender, publish, spool_directories, wait_for

ROOT = Path(__file__).parents[3]
PRELUDE = """
import os, signal, sys, time
from functools import partial
from pathlib import Path
from lineproof.producers import delivery as module
from lineproof.producers.delivery import Delivery
from lineproof.producers.spooling.spool import Spool
from tests.delivery import Away, Endpoint, Hanging, Sender, numbered

directory = Path(sys.argv[1])

def deliver(sender):
    return Delivery(Spool(directory / "spool", 2**30), partial(sender, Endpoint(directory)))

def publish(delivery, number, key=b"run"):
    delivery.publish(key, numbered(number))
    os.write(1, b"%d\\n" % number)
"""


def child(tmp_path: Path, script: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + script, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def returned(stdout: IO[str] | None, at_least: int) -> set[tuple[str, int]]:
    """The events whose publish has returned so far."""
    assert stdout is not None
    return {("run", int(stdout.readline())) for _ in range(at_least)}


def ended(process: "subprocess.Popen[str]") -> tuple[int, set[tuple[str, int]], str]:
    """The exit code of a process, the events whose publish has returned since, and its stderr."""
    out, said = process.communicate(timeout=60)
    return process.returncode, {("run", int(line)) for line in out.split()}, said


FOREVER = """
delivery = deliver({sender})
number = 0
while True:
    publish(delivery, number)
    number += 1
"""


@pytest.mark.parametrize("sender", ["Sender", "Away", "Hanging"])
def test_no_event_is_lost_when_the_process_is_killed(
    tmp_path: Path, deliver: Deliver, endpoint: Endpoint, sender: str
) -> None:
    """kill -9 with an endpoint that works, that accepts nothing, and that hangs."""
    process = child(tmp_path, FOREVER.format(sender=sender))
    expected = returned(process.stdout, 3000)
    process.kill()
    status, more, _ = ended(process)
    assert status == -signal.SIGKILL
    assert deliver().close(PATIENCE_S)
    endpoint.assert_has(expected | more)
    assert spool_directories(tmp_path) == []


@pytest.mark.parametrize("sender", ["Sender", "Away"])
def test_sigterm_delivers_events_and_ends_the_process_as_by_default(
    tmp_path: Path, deliver: Deliver, endpoint: Endpoint, sender: str
) -> None:
    """The signal usually arrives during a publish."""
    script = """
module.EXIT_TIMEOUT_S = 20 if "{sender}" == "Sender" else 0.1
module.on_terminate.append(lambda: 1 / 0)
module.on_terminate.append(lambda: publish(delivery, 1_000_000))
"""
    process = child(tmp_path, script.format(sender=sender) + FOREVER.format(sender=sender))
    expected = returned(process.stdout, 1000)
    process.terminate()
    status, more, said = ended(process)
    assert status == -signal.SIGTERM
    assert ("run", 1_000_000) in more
    assert "ZeroDivisionError" in said
    if sender == "Away":
        assert "They wait in" in said
        assert deliver().flush(PATIENCE_S)
    endpoint.assert_has(expected | more)


def test_the_services_own_signal_handler_is_not_replaced(tmp_path: Path, endpoint: Endpoint) -> None:
    script = """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
delivery = deliver(Sender)
publish(delivery, 0)
os.kill(os.getpid(), signal.SIGTERM)
"""
    status, expected, _ = ended(child(tmp_path, script))
    assert status == 3
    endpoint.assert_has(expected)


def test_a_handler_may_close_a_delivery_in_the_middle_of_a_publish(tmp_path: Path, endpoint: Endpoint) -> None:
    script = """
delivery = deliver(Sender)
closed = []

signal.signal(signal.SIGALRM, lambda *_: closed.append(delivery.close(20)))
number = armed = 0
while len(closed) < 50:
    publish(delivery, number)
    number += 1
    if len(closed) == armed and number % 10 == 0:  # the thread is running by then
        armed += 1
        signal.setitimer(signal.ITIMER_REAL, 0.0001 + armed / 1_000_000)
assert all(closed)
"""
    status, expected, said = ended(child(tmp_path, script))
    assert (status, said) == (0, "")
    endpoint.assert_has(expected)
    assert spool_directories(tmp_path) == []


@pytest.mark.parametrize("early", [True, False])
def test_a_handler_may_close_a_delivery_while_its_thread_is_started(
    deliver: Deliver, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, early: bool
) -> None:
    delivery = deliver()
    closed = []
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        monkeypatch.undo()
        if not early:
            start(thread)
        signal.raise_signal(signal.SIGALRM)
        if early:
            start(thread)

    former = signal.signal(signal.SIGALRM, lambda *_: closed.append(delivery.close(PATIENCE_S)))
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    expected = publish(delivery, 10)
    signal.signal(signal.SIGALRM, former)
    assert closed == [True]
    assert delivery.close(PATIENCE_S)
    endpoint.assert_has(expected)


def test_a_process_delivers_before_it_exits(tmp_path: Path, endpoint: Endpoint) -> None:
    status, expected, _ = ended(child(tmp_path, "d = deliver(Sender)\nfor n in range(500): publish(d, n)"))
    assert (status, len(expected)) == (0, 500)
    endpoint.assert_has(expected)
    assert spool_directories(tmp_path) == []


@pytest.mark.parametrize("sender", ["Away", "Hanging"])
def test_a_process_that_cannot_deliver_exits_and_logs_pending_events(
    tmp_path: Path, deliver: Deliver, endpoint: Endpoint, sender: str
) -> None:
    script = f"module.EXIT_TIMEOUT_S = 0.1\nd = deliver({sender})\nfor n in range(5): publish(d, n)"
    status, expected, said = ended(child(tmp_path, script))
    assert status == 0
    assert f"5 events could not be delivered within 0.1 s. They wait in {tmp_path / 'spool'}" in said
    assert deliver().flush(PATIENCE_S)
    endpoint.assert_has(expected)


def test_ctrl_c_ends_a_flush(tmp_path: Path, deliver: Deliver, endpoint: Endpoint) -> None:
    script = """
module.EXIT_TIMEOUT_S = 0.1
d = deliver(Hanging)
publish(d, 0)
d.flush(3600)
"""
    process = child(tmp_path, script)
    expected = returned(process.stdout, 1)

    def interrupt() -> bool:
        process.send_signal(signal.SIGINT)
        return process.poll() is not None

    wait_for(interrupt)  # repeatedly: the first signal may arrive before the flush
    assert process.returncode in {1, -signal.SIGINT}
    process.communicate()
    assert deliver().flush(PATIENCE_S)
    endpoint.assert_has(expected)


def test_two_processes_share_a_spool(tmp_path: Path, endpoint: Endpoint) -> None:
    script = "d = deliver(Sender)\nfor n in range(2000): publish(d, n, b'%d' % os.getpid())"
    processes = [child(tmp_path, script) for _ in range(2)]
    assert [ended(process)[0] for process in processes] == [0, 0]
    expected = {(str(process.pid), number) for process in processes for number in range(2000)}
    endpoint.assert_has(expected)
    assert len(endpoint.taken) == 4000
    assert spool_directories(tmp_path) == []


def forked(task: Callable[[], object]) -> int:
    """Run a task in a forked child that exits without cleanup."""
    pid = os.fork()
    if pid == 0:
        try:
            task()
        finally:
            os._exit(0)
    return pid


def test_a_forked_child_starts_its_own_delivery(deliver: Deliver, endpoint: Endpoint) -> None:
    """The child does not send the parent's events, and the child's events are not lost."""
    delivery = deliver(Hanging)
    expected = publish(delivery, 10, b"parent")

    def task() -> None:
        assert delivery.stats.taken == 0
        Hanging.released = threading.Event()  # the parent's thread may hold the lock of the old event
        Hanging.released.set()
        publish(delivery, 10, b"child")
        assert delivery.flush(PATIENCE_S)
        os.write(write, b"ok" if len(endpoint.taken) == 10 else b"no")

    read, write = os.pipe()
    pid = forked(task)
    os.close(write)
    os.waitpid(pid, 0)
    assert os.read(read, 2) == b"ok"
    expected |= publish(delivery, 10, b"parent", begin=10)
    Hanging.released.set()
    assert delivery.flush(PATIENCE_S)
    endpoint.assert_has(expected | {("child", number) for number in range(10)})
    assert len(endpoint.taken) == 30
    assert delivery.stats.taken == 20


def test_pending_events_of_a_forked_child_are_delivered_by_its_parent(deliver: Deliver, endpoint: Endpoint) -> None:
    delivery = deliver(Sender)
    expected = publish(delivery, 10, b"parent")
    os.waitpid(forked(partial(publish, delivery, 300, b"os.fork")), 0)
    process = multiprocessing.get_context("fork").Process(target=publish, args=(delivery, 300, b"multiprocessing"))
    process.start()
    process.join()
    assert delivery.flush(PATIENCE_S)
    endpoint.assert_has(expected | {(key, n) for key in ("os.fork", "multiprocessing") for n in range(300)})


def test_threads_may_publish_while_others_fork(deliver: Deliver, endpoint: Endpoint) -> None:
    delivery = deliver()
    threads = [threading.Thread(target=publish, args=(delivery, 500, b"thread %d" % n)) for n in range(3)]
    for thread in threads:
        thread.start()
    children = [forked(partial(publish, delivery, 5, b"child %d" % n)) for n in range(10)]
    for pid in children:
        os.waitpid(pid, 0)
    for thread in threads:
        thread.join()
    assert delivery.flush(PATIENCE_S)
    expected = {(f"thread {n}", number) for n in range(3) for number in range(500)}
    endpoint.assert_has(expected | {(f"child {n}", number) for n in range(10) for number in range(5)})


def test_a_forked_child_delivers_before_it_exits(tmp_path: Path, endpoint: Endpoint) -> None:
    script = """
d = deliver(Sender)
publish(d, 0, b"parent")
if os.fork() == 0:
    publish(d, 1, b"child")
    sys.exit(0)
os.wait()
print(sorted(path.name for path in (directory / "spool").iterdir() if path.is_dir()).__len__(), file=sys.stderr)
"""
    status, _, said = ended(child(tmp_path, script))
    assert (status, said.strip()) == (0, "1"), "only the parent's directory is left"
    endpoint.assert_has({("parent", 0), ("child", 1)})
