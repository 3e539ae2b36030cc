"""A lineage backend for tests: a real HTTP server that keeps what it accepts."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SINGLE, BATCH = "/api/v1/lineage", "/api/v1/lineage/batch"


@dataclass(frozen=True)
class Reply:
    """An answer."""

    status: int = 201
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    is_kept: bool = False
    """Whether the events of the request count as accepted."""


@dataclass(frozen=True)
class Request:
    """A POST."""

    path: str
    headers: dict[str, str]
    body: Any
    at: float
    connection: Any

    @property
    def events(self) -> list[dict[str, Any]]:
        if isinstance(self.body, dict) and "events" in self.body:
            return list(self.body["events"])
        return self.body if isinstance(self.body, list) else [self.body]


class Backend(ThreadingHTTPServer):
    """Answers with the given replies first; then with 201 to an event, and with 204 to a batch if `has_batch`."""

    daemon_threads = True

    def __init__(self, has_batch: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.has_batch = has_batch
        self.replies: list[Reply] = []
        self.judge: Callable[[Request], Reply | None] = lambda _: None
        self.requests: list[Request] = []
        self.accepted: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def types(self) -> list[str]:
        """The types of the accepted events."""
        return [event["eventType"] for event in self.accepted]

    def reply(self, request: Request) -> Reply:
        with self.lock:
            self.requests.append(request)
            if self.replies:
                return self.replies.pop(0)
        judged = self.judge(request)
        if judged is not None:
            return judged
        if request.path == BATCH and not self.has_batch:
            return Reply(404)
        return Reply(204 if request.path == BATCH else 201, is_kept=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Backend

    def do_GET(self) -> None:
        self._answer(self.server.replies.pop(0) if self.server.replies else Reply(400))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, body, time.monotonic(), self.connection)
        reply = self.server.reply(request)
        if reply.is_kept:
            with self.server.lock:
                self.server.accepted += request.events
                self.server.paths.append(self.path)
        self._answer(reply)

    def _answer(self, reply: Reply) -> None:
        time.sleep(reply.delay_s)
        content = b"" if reply.body is None else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def running(has_batch: bool = False) -> Iterator[Backend]:
    """A backend that runs until the context is left."""
    server = Backend(has_batch)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
