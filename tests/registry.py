"""A schema registry for tests: it answers the two calls that we make as Confluent's REST API does.

It was written without access to a real registry. It checks that our requests are as documented, not that a product
accepts them.
"""

import base64
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USER = "lineproof:s3cret"


class TestRegistry(ThreadingHTTPServer):
    """Schemas by subject. A schema has one id, the same for all subjects."""

    daemon_threads = True
    __test__ = False

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.subjects: dict[str, list[Any]] = {}
        self.ids: list[Any] = []
        self.refuses: int | None = None
        self.hangs = threading.Event()
        self.requests = 0

    @property
    def options(self) -> dict[str, str]:
        return {"url": f"http://127.0.0.1:{self.server_port}", "basic.auth.user.info": USER}

    def id_of(self, schema: Any) -> int:
        if schema not in self.ids:
            self.ids.append(schema)
        return 100 + self.ids.index(schema)


class Handler(BaseHTTPRequestHandler):
    server: TestRegistry

    def do_POST(self) -> None:
        self.server.requests += 1
        while self.server.hangs.is_set():
            time.sleep(0.01)
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        schema = json.loads(request["schema"])
        path = re.fullmatch(r"/subjects/([^/]+)(/versions)?", self.path)
        expected = f"Basic {base64.b64encode(USER.encode()).decode()}"
        if self.headers["Authorization"] != expected:
            self.answer(401, {"error_code": 401, "message": "Unauthorized"})
        elif self.headers["Content-Type"] != "application/vnd.schemaregistry.v1+json" or not path:
            self.answer(415, {"error_code": 415, "message": "HTTP 415 Unsupported Media Type"})
        elif path[2]:
            if self.server.refuses:
                self.answer(self.server.refuses, {"error_code": self.server.refuses, "message": "incompatible"})
                return
            registered = self.server.subjects.setdefault(path[1], [])
            if schema not in registered:
                registered.append(schema)
            self.answer(200, {"id": self.server.id_of(schema)})
        elif path[1] not in self.server.subjects:
            self.answer(404, {"error_code": 40401, "message": f"Subject '{path[1]}' not found."})
        elif schema not in self.server.subjects[path[1]]:
            self.answer(404, {"error_code": 40403, "message": "Schema not found"})
        else:
            version = self.server.subjects[path[1]].index(schema) + 1
            answer = {
                "subject": path[1],
                "version": version,
                "id": self.server.id_of(schema),
                "schema": request["schema"],
            }
            self.answer(200, answer)

    def answer(self, code: int, body: dict[str, Any]) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def running(port: int = 0) -> Iterator[TestRegistry]:
    """A registry that runs until the context is left."""
    server = TestRegistry(port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.hangs.clear()
        server.shutdown()
        server.server_close()
