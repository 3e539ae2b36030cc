"""OpenLineage by POST, to a real server in this process."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.base import EndpointUnavailable
from lineproof.producers.transports.http import InvalidUrl, http_transport


class Backend(ThreadingHTTPServer):
    """Accepts events; answers first with the given statuses, then with 201."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.codes: list[int] = []
        self.requests: list[tuple[str, str | None, dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Backend

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        code = self.server.codes.pop(0) if self.server.codes else 201
        if code == 201:
            self.server.requests.append((self.path, self.headers["Authorization"], body))
        self.send_response(code)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def backend() -> Iterator[Backend]:
    server = Backend()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_events_arrive_in_order_with_the_key(backend: Backend, tmp_path: Path) -> None:
    emitter = Emitter(http_transport(backend.url + "/", "s3cret", tmp_path), "tests")
    with emitter.run("job"):
        pass
    assert emitter.close(30)
    assert [path for path, _, _ in backend.requests] == ["/api/v1/lineage"] * 2
    assert {key for _, key, _ in backend.requests} == {"Bearer s3cret"}
    assert [body["eventType"] for _, _, body in backend.requests] == ["START", "COMPLETE"]


def test_a_failed_post_is_retried(backend: Backend, tmp_path: Path) -> None:
    backend.codes = [503, 429, 401]
    emitter = Emitter(http_transport(backend.url, "", tmp_path), "tests")
    with emitter.run("job"):
        pass
    assert emitter.close(30)
    assert [body["eventType"] for _, _, body in backend.requests] == ["START", "COMPLETE"]
    assert emitter.stats.delivery.errors == 3


def test_a_rejected_event_does_not_block_the_others(backend: Backend, tmp_path: Path) -> None:
    backend.codes = [422]
    emitter = Emitter(http_transport(backend.url, "", tmp_path), "tests")
    with emitter.run("job"):
        pass
    assert emitter.close(30)
    assert [body["eventType"] for _, _, body in backend.requests] == ["COMPLETE"]
    assert emitter.stats.delivery.rejected == 1
    assert "422" in (tmp_path / "rejected.jsonl").read_text()


def test_events_wait_while_the_backend_is_unavailable(backend: Backend, tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as closed:
        url = f"http://127.0.0.1:{closed.server_port}"
    transport = http_transport(url, "", tmp_path)
    with pytest.raises(EndpointUnavailable, match="does not answer"):
        transport.confirm(1)
    http_transport(backend.url, "", tmp_path / "other").confirm(5)
    emitter = Emitter(transport, "tests")
    emitter.run("job").start()
    deadline = time.monotonic() + 20
    while not emitter.stats.delivery.errors and time.monotonic() < deadline:
        time.sleep(0.01)
    assert emitter.stats.delivery.pending == 1
    assert not emitter.close(0)
    later = http_transport(backend.url, "", tmp_path)
    assert later.close(30)
    assert [body["eventType"] for _, _, body in backend.requests] == ["START"]


def test_an_invalid_url_raises_immediately(tmp_path: Path) -> None:
    with pytest.raises(InvalidUrl, match="localhost:5000"):
        http_transport("localhost:5000", "", tmp_path)
