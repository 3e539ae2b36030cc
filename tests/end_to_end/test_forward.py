"""Forward a real topic to a real HTTP server, in processes that are killed."""

import signal
import subprocess
import sys
from functools import partial

from lineproof.schemas.record import Record
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from tests import backend as backends
from tests.backend import Backend, Reply, Request
from tests.delivery import wait_for
from tests.events import payload, sealed


def command(settings: Settings, *arguments: str) -> list[str]:
    options = {
        "home": settings.home,
        "topics.events": settings.topics.events,
        "kafka.bootstrap.servers": settings.kafka["bootstrap.servers"],
    }
    overrides = [f"--set={name}={value}" for name, value in options.items()]
    return [sys.executable, "-m", "lineproof", "forward", *arguments, "--source", "topic", *overrides]


def run(settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(settings, *arguments), capture_output=True, text=True, timeout=120, check=False, cwd=settings.home
    )


def start(settings: Settings, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command(settings, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=settings.home
    )


def publish(settings: Settings, first: int, count: int) -> list[str]:
    """Events of two runs, one per partition at most, as envelopes and as plain JSON."""
    settings.home.mkdir(parents=True, exist_ok=True)
    names = [f"job-{number:04}" for number in range(first, first + count)]
    records = []
    for number, name in enumerate(names):
        body = payload(job={"namespace": "tests", "name": name})
        value = sealed(body).encode() if number % 2 else body
        records.append(Record(b"key-%d" % (number % 4), value))
    KafkaCluster(settings.kafka).send(settings.topics.events, records)
    return names


def names(backend: Backend) -> list[str]:
    with backend.lock:
        return [event["job"]["name"] for event in backend.accepted]


def slow(request: Request) -> Reply | None:
    return None if request.path == backends.BATCH else Reply(201, delay_s=0.005, is_kept=True)


def has_more_than(backend: Backend, count: int) -> bool:
    return len(names(backend)) > count


def test_a_killed_forward_continues(settings: Settings) -> None:
    """Every event arrives at least once, and no more than one request's events arrive again for each kill."""
    expected = publish(settings, 0, 600)
    with backends.running() as backend:
        backend.judge = slow
        for kills in (1, 2):
            process = start(settings, backend.url)
            wait_for(partial(has_more_than, backend, 150 * kills))
            process.send_signal(signal.SIGKILL)
            process.communicate()
        assert len({*names(backend)}) < 600, "it was killed in the middle"
        done = run(settings, backend.url)
        assert done.returncode == 0, done.stderr
        assert "Continuing after" in done.stderr
        assert {*names(backend)} == {*expected}
        assert len(names(backend)) <= 600 + 2 * 100
        again = run(settings, backend.url)
        assert "0 events forwarded" in again.stderr
        assert again.returncode == 0


def test_following_a_topic(settings: Settings) -> None:
    """New events arrive, the backend may be away for a while, and Ctrl-C is a clean end."""
    first = publish(settings, 0, 20)
    with backends.running(has_batch=True) as backend:
        process = start(settings, backend.url, "--follow")
        wait_for(lambda: {*names(backend)} == {*first})
        backend.judge = lambda _: Reply(503)
        second = publish(settings, 20, 20)
        wait_for(lambda: sum(request.path == backends.BATCH for request in backend.requests) > 3)
        backend.judge = lambda _: None
        wait_for(lambda: {*names(backend)} == {*first, *second})
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
        assert process.returncode == 0, stderr
        assert "40 events forwarded" in stderr
        assert "Traceback" not in stderr
        assert "0 events forwarded" in run(settings, backend.url).stderr


def test_ctrl_c_in_the_middle(settings: Settings) -> None:
    publish(settings, 0, 300)
    with backends.running() as backend:
        process = start(settings, backend.url, "--rate", "50")
        wait_for(lambda: len(names(backend)) > 30)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
        assert process.returncode == 1
        assert "Run the same command to continue" in stderr
        assert "Traceback" not in stderr
        sent = len(names(backend))
        assert sent < 300
        assert run(settings, backend.url).returncode == 0
        assert len(names(backend)) == 300, "nothing is sent twice after a clean end"


def test_a_recreated_topic_is_forwarded_from_its_beginning(settings: Settings) -> None:
    publish(settings, 0, 30)
    with backends.running(has_batch=True) as backend:
        assert run(settings, backend.url).returncode == 0
        cluster = KafkaCluster(settings.kafka)
        for future in cluster._admin.delete_topics([settings.topics.events]).values():
            future.result()
        wait_for(lambda: settings.topics.events not in cluster.topics())
        cluster.create_topics([settings.topics.events], 2, 1)
        publish(settings, 100, 40)
        assert run(settings, backend.url).returncode == 0
        assert len({*names(backend)}) == 70


def test_from_a_time_and_a_dry_run(settings: Settings) -> None:
    publish(settings, 0, 30)
    with backends.running(has_batch=True) as backend:
        assert "30 records of the topic would go" in run(settings, backend.url, "--dry-run").stderr
        assert "0 records of the topic" in run(settings, backend.url, "--dry-run", "--from", "2999-01-01T00:00Z").stderr
        assert "30 records of the topic" in run(settings, backend.url, "--dry-run", "--from", "1h").stderr
        assert not backend.requests
    assert not (settings.home / "forwards").exists()
