"""Stub of the external systems: a local HTTP server that answers in pages, to requests with the API key."""

import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from enum import Enum
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lineproof.producers.pipelines.sample import MAIL_DOMAIN, ApiRecord

KEY_HEADER = "X-Api-Key"
PAGE_SIZE = 25


class ApiFault(Enum):
    """A fault in the second page of a response."""

    UNAVAILABLE = "the service is over capacity"
    BROKEN_PAGE = "the page ends in the middle"
    BAD_RECORDS = "some records lack most of their fields"


class StubApis:
    """Serves the records of each resource from `start` to `stop`."""

    def __init__(self, resources: Mapping[str, Sequence[ApiRecord]]) -> None:
        self.resources = resources
        self.key = secrets.token_urlsafe(24)
        self.fault: ApiFault | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def start(self) -> None:
        """Start the server."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, resource: str, page: int, key: str | None) -> tuple[HTTPStatus, bytes]:
        """The response to a request."""
        records = self.resources.get(resource)
        if key != self.key:
            return HTTPStatus.UNAUTHORIZED, b'{"error": "unknown key"}'
        if records is None:
            return HTTPStatus.NOT_FOUND, b'{"error": "no such resource"}'
        fault = self.fault if page == 2 else None
        if fault is ApiFault.UNAVAILABLE:
            # Some services repeat the request in the error, with the key in it.
            error = f"over capacity; request was {KEY_HEADER}: {key}; write to support@{MAIL_DOMAIN}"
            return HTTPStatus.SERVICE_UNAVAILABLE, json.dumps({"error": error}).encode()
        return HTTPStatus.OK, _page(records, page, fault)


def _page(records: Sequence[ApiRecord], page: int, fault: ApiFault | None) -> bytes:
    pages = -(-len(records) // PAGE_SIZE)
    data = [dict(record) for record in records[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]]
    if fault is ApiFault.BAD_RECORDS:
        data[:2] = [dict(list(record.items())[:1]) for record in data[:2]]
    body = json.dumps({"data": data, "page": page, "pages": pages}).encode()
    if fault is ApiFault.BROKEN_PAGE:
        return body[: body.rindex(MAIL_DOMAIN.encode()) + len(MAIL_DOMAIN)]
    return body


def _handler(apis: StubApis) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            page = int(parse_qs(address.query).get("page", ["1"])[0])
            status, body = apis.answer(address.path.strip("/"), page, self.headers.get(KEY_HEADER))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Do not log requests."""

    return Handler
