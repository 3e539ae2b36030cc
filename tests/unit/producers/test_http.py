"""OpenLineage by POST, to real servers on this machine."""

import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.base import DeliveryStatus, EndpointUnavailable
from lineproof.producers.transports.config import HttpConfig, InvalidTransport, bearer
from lineproof.producers.transports.http import http_transport
from lineproof.producers.transports.http_client import HttpClient, outcomes_of_batch
from tests import backend as backends
from tests.backend import BATCH, SINGLE, Backend, Reply, Request
from tests.delivery import wait_for
from tests.events import payload

DELIVERED, REJECTED, RETRY = DeliveryStatus.DELIVERED, DeliveryStatus.REJECTED, DeliveryStatus.RETRY


@pytest.fixture
def backend() -> Iterator[Backend]:
    with backends.running() as server:
        yield server


@pytest.fixture
def batching() -> Iterator[Backend]:
    with backends.running(has_batch=True) as server:
        yield server


def config(server: Backend, **options: Any) -> HttpConfig:
    return HttpConfig(url=server.url, **options)


def emitter_to(server: Backend, spool: Path, **options: Any) -> Emitter:
    return Emitter(http_transport(config(server, **options), spool), "tests")


def numbered(count: int) -> list[bytes]:
    """Events that are told apart by the names of their jobs."""
    return [payload(job={"namespace": "tests", "name": f"job-{number}"}) for number in range(count)]


def names(events: list[dict[str, Any]]) -> list[str]:
    return [event["job"]["name"] for event in events]


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_events_arrive_in_order_with_the_key(backend: Backend, tmp_path: Path) -> None:
    emitter = Emitter(http_transport(HttpConfig(url=f"{backend.url}/", headers=bearer("s3cret\n")), tmp_path), "tests")
    with emitter.run("job"):
        pass
    assert emitter.close(30)
    assert backend.types == ["START", "COMPLETE"]
    assert {request.headers["authorization"] for request in backend.requests} == {"Bearer s3cret"}
    assert {request.headers["content-type"] for request in backend.requests} == {"application/json"}


def test_many_events_are_posted_in_batches_on_one_connection(batching: Backend, tmp_path: Path) -> None:
    batching.replies = [Reply(503)]  # so that all events are waiting at the second attempt
    emitter = emitter_to(batching, tmp_path)
    for event in numbered(250):
        emitter.publish_json(event)
    assert emitter.close(30)
    assert names(batching.accepted) == [f"job-{number}" for number in range(250)]
    delivering = batching.requests[1:]
    assert len(delivering) < 20
    assert len({request.connection for request in delivering}) == 1
    assert max(len(request.events) for request in delivering) == 100


@pytest.mark.parametrize("status", [404, 405])
def test_without_a_batch_endpoint_events_are_posted_one_by_one(backend: Backend, status: int) -> None:
    backend.judge = lambda request: Reply(status) if request.path == BATCH else None
    client = HttpClient(config(backend))
    assert [outcome[0] for outcome in client.post(numbered(3))] == [DELIVERED] * 3
    assert [outcome[0] for outcome in client.post(numbered(3))] == [DELIVERED] * 3
    assert len({request.connection for request in backend.requests}) == 1
    HttpClient(config(backend)).post(numbered(2))  # remembered for the process
    assert [request.path for request in backend.requests] == [BATCH, *[SINGLE] * 8]


def test_a_mixed_answer_to_a_batch_is_read(batching: Backend, tmp_path: Path) -> None:
    """What is retriable is sent again, what is not is put aside, the rest is delivered once."""
    first = {
        "status": "partial_success",
        "summary": {"received": 4, "successful": 2, "failed": 2, "retriable": 1, "non_retriable": 1},
        "failed_events": [
            {"index": 1, "reason": "database is locked", "retriable": True},
            {"index": 2, "reason": "no such namespace", "retriable": False},
        ],
    }
    batching.judge = lambda request: Reply(503) if len(request.events) < 4 else Reply(200, first)
    emitter = emitter_to(batching, tmp_path)
    for event in numbered(4):
        emitter.publish_json(event)
    wait_for(lambda: emitter.stats.delivery.rejected == 1)
    assert emitter.stats.delivery.delivered == 2
    batching.judge = lambda _: None
    assert emitter.close(30)
    assert names(batching.accepted) == ["job-1"]
    [aside] = map(json.loads, (tmp_path / "rejected.jsonl").read_text().splitlines())
    assert "no such namespace" in aside["reason"]
    assert emitter.stats.delivery.lost == 0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"", [DELIVERED] * 3),
        (b"accepted", [DELIVERED] * 3),
        (b"[1, 2]", [DELIVERED] * 3),
        (b'{"status": "success", "summary": {"failed": 0}, "failed_events": []}', [DELIVERED] * 3),
        (
            b'{"failedEvents": [{"index": 0, "reason": "x"}], "summary": {"failed": 1}}',
            [REJECTED, DELIVERED, DELIVERED],
        ),
        (b'{"failed_events": [{"index": 2, "reason": null, "retriable": true}]}', [DELIVERED, DELIVERED, RETRY]),
        # It does not say which events failed.
        (b'{"summary": {"failed": 2}, "failed_events": [{"index": 0}]}', None),
        (b'{"status": "failure", "message": "all wrong"}', None),
        (b'{"failed_events": [{"index": 7}, "x", {"index": true}], "summary": {"failed": 1}}', None),
    ],
)
def test_answers_to_batches(answer: bytes, expected: list[DeliveryStatus] | None) -> None:
    outcomes = outcomes_of_batch(answer, 3, "backend")
    assert (None if outcomes is None else [outcome[0] for outcome in outcomes]) == expected


def test_a_batch_that_is_refused_is_posted_one_by_one(batching: Backend) -> None:
    """One bad event, or too many bytes at once, does not keep the others back."""

    def judge(request: Request) -> Reply | None:
        if request.path == BATCH:
            return Reply(413)
        return Reply(422, {"message": "bad job"}) if names(request.events) == ["job-1"] else None

    batching.judge = judge
    outcomes = HttpClient(config(batching)).post(numbered(3))
    assert [outcome[0] for outcome in outcomes] == [DELIVERED, REJECTED, DELIVERED]
    assert "422" in outcomes[1][1]
    assert "bad job" in outcomes[1][1]


def test_a_backend_that_takes_arrays_only(batching: Backend) -> None:
    options = {"endpoint": "/events", "batch_endpoint": "/events"}
    refusal = {"status": "error", "summary": {"failed": 1}, "failed_events": [{"index": 0, "reason": "x"}]}
    batching.replies = [Reply(201, is_kept=True), Reply(422, refusal), Reply(200, is_kept=True), Reply(207, refusal)]
    client = HttpClient(config(batching, **options))
    assert [outcome[0] for outcome in client.post(numbered(1))] == [DELIVERED]
    assert [outcome[0] for outcome in client.post(numbered(2))] == [DELIVERED, REJECTED]
    assert all(isinstance(request.body, list) for request in batching.requests)


def test_batches_that_are_objects(batching: Backend) -> None:
    HttpClient(config(batching, batch_member="events")).post(numbered(2))
    assert [*batching.requests[0].body] == ["events"]
    assert names(batching.accepted) == ["job-0", "job-1"]


def test_a_failed_post_is_retried(backend: Backend, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    backend.replies = [Reply(401), Reply(403), Reply(500), Reply(502)]
    emitter = emitter_to(backend, tmp_path, headers=bearer("wrong"))
    emitter.run("job").start()
    assert emitter.close(30)
    assert backend.types == ["START"]
    assert emitter.stats.delivery.errors == 4
    assert emitter.stats.delivery.rejected == 0
    assert "does not accept the API key" in caplog.text
    assert "wrong" not in caplog.text


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_respected(backend: Backend, tmp_path: Path, status: int) -> None:
    backend.replies = [Reply(status, headers={"Retry-After": "1"})]
    emitter = emitter_to(backend, tmp_path)
    emitter.run("job").start()
    assert emitter.close(30)
    first, second = backend.requests
    assert second.at - first.at >= 1


def test_retries_back_off_exponentially(backend: Backend, tmp_path: Path) -> None:
    backend.replies = [Reply(503)] * 4
    emitter = emitter_to(backend, tmp_path)
    emitter.run("job").start()
    assert emitter.close(30)
    times = [request.at for request in backend.requests]
    waits = [later - earlier for earlier, later in pairwise(times)]
    assert all(wait >= 0.1 * 2**number for number, wait in enumerate(waits))
    assert len(waits) == 4


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(tmp_path: Path, status: int, caplog: pytest.LogCaptureFixture) -> None:
    """The other host sees neither the key nor an event, and the event counts as not delivered."""
    with backends.running() as first, backends.running() as other:
        first.judge = lambda request: Reply(status, headers={"Location": f"{other.url}{request.path}"})
        emitter = emitter_to(first, tmp_path, headers=bearer("s3cret"))
        for event in numbered(3):
            emitter.publish_json(event)
        wait_for(lambda: emitter.stats.delivery.errors >= 2)
        assert emitter.stats.delivery.delivered == 0
        assert emitter.stats.delivery.pending == 3
        assert "redirects are not followed" in caplog.text
        first.judge = lambda _: None
        assert emitter.close(30)
        assert other.requests == []
        assert names(first.accepted) == ["job-0", "job-1", "job-2"]


def test_a_redirect_does_not_confirm_a_backend(backend: Backend, tmp_path: Path) -> None:
    backend.replies = [Reply(302, headers={"Location": "https://elsewhere.example"}), Reply(401), Reply(404)]
    transport = http_transport(config(backend), tmp_path)
    with pytest.raises(EndpointUnavailable, match="a redirect to elsewhere"):
        transport.confirm(5)
    with pytest.raises(EndpointUnavailable, match="API key"):
        transport.confirm(5)
    transport.confirm(5)


def test_a_rejected_event_does_not_block_the_others(backend: Backend, tmp_path: Path) -> None:
    def judge(request: Request) -> Reply | None:
        is_bad = request.path == SINGLE and names(request.events) == ["job-1"]
        return Reply(422, {"message": "password=hunter2 is no namespace"}) if is_bad else None

    backend.judge = judge
    emitter = emitter_to(backend, tmp_path)
    for event in numbered(3):
        emitter.publish_json(event)
    assert emitter.close(30)
    assert names(backend.accepted) == ["job-0", "job-2"]
    assert emitter.stats.delivery.rejected == 1
    kept = (tmp_path / "rejected.jsonl").read_text()
    assert "422" in kept
    assert "is no namespace" in kept
    assert "hunter2" not in kept


def test_an_event_on_which_the_backend_fails_does_not_block_the_others(backend: Backend, tmp_path: Path) -> None:
    backend.judge = lambda request: Reply(500) if names(request.events) == ["job-0"] else None
    emitter = emitter_to(backend, tmp_path)
    for event in numbered(20):
        emitter.publish_json(event)
    wait_for(lambda: emitter.stats.delivery.delivered == 19)
    assert emitter.stats.delivery.pending == 20, "the spool is acknowledged in order"
    backend.judge = lambda _: None
    assert emitter.close(30)
    assert sorted(names(backend.accepted)) == sorted(f"job-{number}" for number in range(20))


def test_an_event_that_cannot_be_sent_is_put_aside(backend: Backend, tmp_path: Path) -> None:
    """Its time is in the year 10000 in UTC, so that its envelope cannot be read."""
    emitter = emitter_to(backend, tmp_path)
    emitter.publish_json(payload(eventTime="9999-12-31T23:59:59-14:00"))
    for event in numbered(2):
        emitter.publish_json(event)
    assert emitter.close(30)
    assert names(backend.accepted) == ["job-0", "job-1"]
    assert emitter.stats.delivery.rejected == 1
    [aside] = map(json.loads, (tmp_path / "rejected.jsonl").read_text().splitlines())
    assert "cannot be read" in aside["reason"]


def test_events_wait_while_the_backend_is_unavailable(backend: Backend, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    transport = http_transport(HttpConfig(url=url), tmp_path)
    with pytest.raises(EndpointUnavailable, match="does not answer"):
        transport.confirm(1)
    http_transport(config(backend), tmp_path / "other").confirm(5)
    emitter = Emitter(transport, "tests")
    emitter.run("job").start()
    wait_for(lambda: emitter.stats.delivery.errors > 0)
    assert emitter.stats.delivery.pending == 1
    assert not emitter.close(0)
    later = http_transport(config(backend), tmp_path)
    assert later.close(30)
    assert backend.types == ["START"]


def test_a_slow_backend_delays_no_call(backend: Backend, tmp_path: Path) -> None:
    backend.replies = [Reply(201, delay_s=1.5, is_kept=False)]
    emitter = emitter_to(backend, tmp_path, timeout_s=0.3)
    emitter.run("warm-up").start()
    durations = []
    for _ in range(200):
        began = time.perf_counter()
        emitter.run("job").start()
        durations.append(time.perf_counter() - began)
    assert sorted(durations)[-5] < 0.005
    assert emitter.close(30)
    assert emitter.stats.delivery.errors >= 1
    assert len(backend.accepted) == 201


def test_attempts_to_connect_by_tls_delay_no_call(tmp_path: Path) -> None:
    """Each attempt is a new connection, but the CAs are read once."""
    transport = http_transport(HttpConfig(url=f"https://127.0.0.1:{closed_port()}"), tmp_path)
    emitter = Emitter(transport, "tests")
    emitter.run("warm-up").start()
    durations = []
    while emitter.stats.delivery.errors < 4:
        began = time.perf_counter()
        emitter.run("job").start()
        durations.append(time.perf_counter() - began)
        time.sleep(0.001)
    assert sorted(durations)[-3] < 0.005
    assert not emitter.close(0)


def test_an_answer_that_never_ends_is_a_timeout() -> None:
    """A byte from time to time satisfies every timeout between two bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            connection.recv(100_000)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                try:
                    connection.sendall(b"1\r\nx\r\n")
                except OSError:
                    return
                time.sleep(0.05)

        threading.Thread(target=drip, daemon=True).start()
        client = HttpClient(HttpConfig(url=f"http://127.0.0.1:{server.getsockname()[1]}", timeout_s=0.5))
        began = time.monotonic()
        [(status, reason, *_)] = client.post([payload()])
        assert time.monotonic() - began < 5
        assert status is RETRY
        assert "takes too long" in reason
        client.close()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"url": "localhost:5000"}, "localhost:5000"),
        ({"url": "https://"}, "not the URL"),
        ({"url": "https://host:abc"}, "not the URL"),
        ({"url": "https://me:s3cret@host"}, "user or a password"),
        ({"url": "https://host/?key=1"}, "query"),
        ({"url": "https://host", "headers": {"X-Key": "a\nb"}}, "X-Key"),
        ({"url": "https://host", "ca_file": "nowhere.pem"}, "nowhere.pem"),
        ({"url": "https://host", "timeout_s": 0}, "timeout"),
    ],
)
def test_what_cannot_be_used_raises_immediately(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidTransport, match=match) as caught:
        HttpConfig(**options)
    assert "s3cret" not in str(caught.value)


def test_the_key_is_in_no_repr() -> None:
    assert "s3cret" not in repr(HttpConfig(url="https://host", headers=bearer("s3cret")))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_a_ca_file_is_trusted(tmp_path: Path) -> None:
    certificate, key = tmp_path / "ca.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = Backend()
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://127.0.0.1:{server.server_port}"
    try:
        [(status, reason, *_)] = HttpClient(HttpConfig(url=url)).post([payload()])
        assert status is RETRY
        assert "CERTIFICATE_VERIFY_FAILED" in reason
        [(status, *_)] = HttpClient(HttpConfig(url=url, ca_file=str(certificate))).post([payload()])
        assert status is DELIVERED
        with pytest.raises(InvalidTransport, match=r"key\.pem"):
            http_transport(HttpConfig(url=url, ca_file=str(key)), tmp_path / "spool")
    finally:
        server.shutdown()
        server.server_close()
