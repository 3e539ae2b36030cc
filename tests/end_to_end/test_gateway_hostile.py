"""Clients that want to harm the server, while another one keeps being served. Its memory stays bounded."""

import gzip
import json
import re
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
import zstandard

from lineproof.producers.gateway.limits import HEAD_TIMEOUT_S
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.server import RunningServer, server
from tests.events import payload

MIB = 2**20
MAX_RSS = 700 * MIB
"""Of the process with Python and librdkafka, after all of these at their worst. It has about 90 MiB when idle."""
SLOWEST_S = 10
"""The good client's slowest answer, on a machine that has other things to do."""
HEAD = b"POST /api/v1/lineage HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


class GoodClient:
    """Sends one event after the other."""

    def __init__(self, url: str) -> None:
        self.answers: list[int] = []
        self.slowest_s = 0.0
        self._url = url
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with httpx.Client(timeout=60) as client:
            while not self._is_stopping.is_set():
                began = time.monotonic()
                self.answers.append(client.post(f"{self._url}/api/v1/lineage", content=payload()).status_code)
                self.slowest_s = max(self.slowest_s, time.monotonic() - began)

    def __enter__(self) -> "GoodClient":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_stopping.set()
        self._thread.join()


@contextmanager
def attacked(
    settings: Settings, record_property: Callable[[str, object], None], *options: str
) -> Iterator[RunningServer]:
    """A server under attack: afterwards its memory is bounded, and the good client had all of its answers."""
    with server(settings, *options) as running:
        with GoodClient(running.url) as good:
            yield running
            deadline = time.monotonic() + 30
            while len(good.answers) < 20:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        record_property("peak RSS in MiB", running.peak_rss // MIB)
        record_property("slowest answer to the good client in s", round(good.slowest_s, 2))
        assert set(good.answers) == {201}
        assert good.slowest_s < SLOWEST_S
        assert running.peak_rss < MAX_RSS
        offsets = KafkaCluster(settings.kafka).offsets(settings.topics.events)
        assert sum(end for _, end in offsets.values()) == len(good.answers), "nothing else was stored"
        assert running.stop() == 0


def connected(running: RunningServer) -> socket.socket:
    client = socket.create_connection(running.address, timeout=60)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def answers(client: socket.socket) -> bytes:
    """All that the server sends until it closes the connection."""
    received = b""
    with suppress(ConnectionResetError):
        while part := client.recv(65536):
            received += part
    return received


def test_slow_clients_are_cut_off(settings: Settings, record_property: Callable[[str, object], None]) -> None:
    with attacked(settings, record_property, "--set=gateway.request_timeout=3s") as running:
        silent = [connected(running) for _ in range(50)]
        slow_heads = [connected(running) for _ in range(150)]
        slow_bodies = [connected(running) for _ in range(100)]
        for client in slow_bodies:
            client.sendall(HEAD + b"Content-Length: 1000\r\n\r\n{")
        sent = dict.fromkeys(slow_heads, HEAD) | dict.fromkeys(slow_bodies, bytes(1000))
        began, at = time.monotonic(), 0
        while (elapsed := time.monotonic() - began) < HEAD_TIMEOUT_S + 3:
            for client, text in sent.items():
                with suppress(OSError):
                    client.sendall(text[at : at + 1])
            at += 1
            time.sleep(max(0.0, at / 2 - elapsed))
        for client in (*silent, *slow_heads, *slow_bodies):
            client.settimeout(30)
        assert all(b" 408 " in answers(client) for client in silent)
        assert all(b" 408 " in received or not received for received in map(answers, (*slow_heads, *slow_bodies)))
        statuses = [line["status"] for line in running.requests()]
        assert statuses.count(408) == len(slow_bodies)


def test_clients_that_do_not_read_are_cut_off(
    settings: Settings, record_property: Callable[[str, object], None]
) -> None:
    body = b"[" + b"1," * 29_999 + b"1]"
    options = ("--set=gateway.request_timeout=3s", "--set=gateway.max_events=30000")
    with attacked(settings, record_property, *options) as running:
        clients = [socket.socket() for _ in range(3)]
        for client in clients:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(running.address)
            client.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        deadline = time.monotonic() + 60
        while sum(line.get("events") == 30_000 for line in running.requests()) < len(clients):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        time.sleep(4)  # more than the timeout
        for client in clients:
            received = answers(client)
            head, _, rest = received.partition(b"\r\n\r\n")
            (length,) = re.findall(rb"content-length: (\d+)", head)
            assert len(rest) < int(length), "what the client had not read in time is gone"


def test_too_many_connections_are_refused(settings: Settings) -> None:
    with server(settings, "--set=gateway.max_connections=20") as running:
        clients = [connected(running) for _ in range(30)]
        received = [answers(client) for client in clients[20:]]
        assert all(b" 429 " in answer and b"too_many_connections" in answer for answer in received)
        for client in clients:
            client.close()
        deadline = time.monotonic() + 30
        while httpx.get(f"{running.url}/livez").status_code != 200:
            assert time.monotonic() < deadline


def gzip_bomb(size: int) -> bytes:
    """A gzip file of zeros. One block of a megabyte is compressed, and repeated."""
    compressor = zlib.compressobj(9, wbits=31)
    begin = compressor.compress(b"") + compressor.flush(zlib.Z_FULL_FLUSH)
    compressor.compress(bytes(MIB))
    compressor.flush(zlib.Z_FULL_FLUSH)
    block = compressor.compress(bytes(MIB)) + compressor.flush(zlib.Z_FULL_FLUSH)
    return begin + block * (size // MIB)


def test_bombs_are_not_unpacked(settings: Settings, record_property: Callable[[str, object], None]) -> None:
    gzip_zeros, zstd_zeros = gzip_bomb(10_000 * MIB), zstandard.compress(bytes(1000 * MIB))
    assert 5 * MIB < len(gzip_zeros) < 20 * MIB
    with attacked(settings, record_property) as running, httpx.Client(timeout=60) as client:
        for body, encoding in ((gzip_zeros, "gzip"), (zstd_zeros, "zstd"), (gzip_zeros, "gzip")):
            answer = client.post(f"{running.url}/api/v1/lineage", content=body, headers={"Content-Encoding": encoding})
            assert answer.json()["code"] == "decompressed_body_too_large"


def test_large_bodies_are_refused_while_they_are_read(
    settings: Settings, record_property: Callable[[str, object], None]
) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield bytes(MIB)

    with attacked(settings, record_property) as running, httpx.Client(timeout=60) as client:
        url = f"{running.url}/api/v1/lineage"
        assert client.post(url, content=bytes(100 * MIB)).json()["code"] == "body_too_large"
        assert client.post(url, content=endless()).json()["code"] == "body_too_large"
        with connected(running) as raw:
            raw.sendall(HEAD + b"Content-Length: 99999999999\r\n\r\n")
            assert b" 413 " in raw.recv(65536)


def test_costly_json_is_refused(settings: Settings, record_property: Callable[[str, object], None]) -> None:
    deep = [b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":[' * 900_000]
    wide = [
        b"[" + b"{}," * 6_000_000 + b"{}]",
        b'{"a":[' + b"{}," * 6_000_000 + b"{}]}",
        b'{"a":"' + b"\\\\" * 8_000_000 + b'"}',
        b'{"a":' + b"9" * 15_000_000 + b"}",
        payload()[:-1] + b',"x":[' + b'{"a":1},' * 990_000 + b"}]}",
    ]
    with attacked(settings, record_property) as running, httpx.Client(timeout=120) as client:
        for body in deep:
            answer = client.post(f"{running.url}/api/v1/lineage", content=body)
            assert (answer.status_code, answer.json()["code"]) == (400, "json_too_deep")
        for body in wide:
            answer = client.post(f"{running.url}/api/v1/lineage", content=body)
            assert answer.status_code in (400, 413), answer.text[:200]


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b'{"a":[' + b"[]," * 990_000 + b"[]]}", "identity"),
        (gzip.compress(b'{"a":"' + b" " * 60 * MIB + b'"}', 6), "gzip"),
        (gzip.compress(b"[" + (b'{"a":"' + b" " * 8_000 + b'"},') * 7_000 + b"1]", 6), "gzip"),
    ],
    ids=["values", "one", "array"],
)
def test_many_large_bodies_at_once_stay_within_the_limit(
    settings: Settings, record_property: Callable[[str, object], None], body: bytes, encoding: str
) -> None:
    statuses: list[int] = []
    limit = 256 * MIB if encoding == "gzip" else 16 * MIB
    with attacked(settings, record_property, f"--set=gateway.max_bytes_in_flight={limit}") as running:

        def send() -> None:
            with httpx.Client(timeout=120) as client:
                answer = client.post(
                    f"{running.url}/api/v1/lineage", content=body, headers={"Content-Encoding": encoding}
                )
                statuses.append(answer.status_code)

        threads = [threading.Thread(target=send) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(statuses) <= {200, 400, 429}
    assert 429 in statuses


INNER = HEAD + b"Content-Length: 2\r\n\r\n{}"
SMUGGLED = {
    "both lengths": HEAD + b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + INNER,
    "two lengths": HEAD + b"Content-Length: 0\r\nContent-Length: 6\r\n\r\n" + INNER,
    "lengths in one header": HEAD + b"Content-Length: 0, 6\r\n\r\n" + INNER,
    "a length with a sign": HEAD + b"Content-Length: +2\r\n\r\n{}" + INNER,
    "a negative length": HEAD + b"Content-Length: -1\r\n\r\n" + INNER,
    "a length in hex": HEAD + b"Content-Length: 0x2\r\n\r\n{}" + INNER,
    "two encodings": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + INNER,
    "an unknown encoding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + INNER,
    "a space before the colon": HEAD + b"Content-Length : 2\r\n\r\n{}" + INNER,
    "a space in a name": HEAD + b"X Y: 2\r\nContent-Length: 2\r\n\r\n{}" + INNER,
    "a name of nothing": HEAD + b": 2\r\nContent-Length: 2\r\n\r\n{}" + INNER,
    "a zero in a value": HEAD + b"X: a\x00b\r\nContent-Length: 2\r\n\r\n{}" + INNER,
    "a carriage return in a value": HEAD + b"X: a\rTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}" + INNER,
    "no host": b"POST /api/v1/lineage HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}" + INNER,
    "two hosts": HEAD + b"Host: b\r\nContent-Length: 2\r\n\r\n{}" + INNER,
    "a chunk of a bad size": HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n" + INNER,
    "a very long head": HEAD + b"X: " + b"a" * 1_000_000 + b"\r\nContent-Length: 2\r\n\r\n{}" + INNER,
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
}


@pytest.fixture(scope="module")
def shared(bootstrap_servers: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server for requests that are all refused."""
    home: Path = tmp_path_factory.mktemp("smuggled")
    settings = Settings(home=home, topics={"events": "smuggled"}, kafka={"bootstrap.servers": bootstrap_servers})
    KafkaCluster(settings.kafka).create_topics(["smuggled"], 1, 1)
    with server(settings) as running:
        yield running


@pytest.mark.parametrize("name", SMUGGLED)
def test_ambiguous_requests_are_refused_and_the_connection_is_closed(shared: RunningServer, name: str) -> None:
    before = len(shared.requests())
    with connected(shared) as client:
        with suppress(BrokenPipeError, ConnectionResetError):
            client.sendall(SMUGGLED[name])
        received = answers(client)
    assert received.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501", b"HTTP/1.1 431")) or name == "a very long head"
    assert received.count(b"HTTP/1.1") <= 1, "what is behind it is no request"
    assert len(shared.requests()) - before <= 1
    assert httpx.get(f"{shared.url}/livez").status_code == 200


def test_a_client_that_goes_away_leaves_nothing(shared: RunningServer) -> None:
    for _ in range(50):
        with connected(shared) as client:
            client.sendall(HEAD + b"Content-Length: 1000000\r\n\r\n{" + b" " * 1000)
    deadline = time.monotonic() + 30
    while "lineproof_gateway_requests_in_flight 1.0" not in (text := httpx.get(f"{shared.url}/metrics").text):
        assert time.monotonic() < deadline, text
    assert "lineproof_gateway_body_bytes_in_flight 0.0" in text


def test_the_log_is_json_whatever_the_path(shared: RunningServer) -> None:
    httpx.get(f"{shared.url}/%0a%22%7b\u2028x?key=secret-in-query")
    deadline = time.monotonic() + 30  # the line comes after the answer
    while not (lines := [one for one in shared.log.read_text().splitlines() if json.loads(one)["status"] == 404]):
        assert time.monotonic() < deadline, shared.log.read_text()
    assert "secret-in-query" not in lines[-1]
