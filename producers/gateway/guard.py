"""What every request passes first: refusal of ambiguous requests, the key, the limits of a key, counts and the log.

It stands around the whole application, so that every part of the server has the same keys (`access.py`).
"""

import json
import sys
import time
from collections import Counter
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lineproof.producers.gateway.access import READ_API, Access, access_to, refuse_other_names, refuse_other_pages
from lineproof.producers.gateway.key_ring import KeyRing
from lineproof.producers.gateway.keys import Key, Role
from lineproof.producers.gateway.limits import GatewayLimits
from lineproof.producers.gateway.metrics import GatewayMetrics
from lineproof.producers.gateway.refusals import RequestRefused
from lineproof.producers.gateway.routes import COUNTS, KEY

_MAX_PATH = 200

Headers = list[tuple[bytes, bytes]]


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, keys: KeyRing, limits: GatewayLimits, metrics: GatewayMetrics) -> None:
        self._app, self._keys, self._limits, self._metrics = app, keys, limits, metrics
        self._in_flight: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.in_flight.inc()
        try:
            await self._pass(scope, receive, answer)
        except RequestRefused as refused:
            await refusal(refused, of_read_api=scope["path"].startswith(READ_API))(scope, receive, answer)
        finally:
            self._metrics.in_flight.dec()
            self._report(scope, status, time.monotonic() - began)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = scope["headers"]
        _refuse_ambiguous(headers)
        access = access_to(scope["method"], scope["path"])
        refuse_other_pages(access, headers)
        if access is Access.PUBLIC:
            await self._app(scope, receive, send)
            return
        key = self._key(access, _key_of(headers))
        if not self._keys.are_required:
            refuse_other_names(access, headers, (scope.get("server") or ("",))[0])
        scope[KEY] = key
        if key is None:
            await self._app(scope, receive, send)
        else:
            await self._counted(key, scope, receive, send)

    def _key(self, access: Access, text: str | None) -> Key | None:
        """The key of a request, if it needs one or has one."""
        if access is not Access.ANY_KEY:
            return self._keys.authenticate(text, Role(access.value))
        self._keys.reload()
        return self._keys.authenticate(text, None) if text else None

    async def _counted(self, key: Key, scope: Scope, receive: Receive, send: Send) -> None:
        if self._in_flight[key.name] >= self._limits.requests_per_key:
            raise RequestRefused(
                429,
                "too_many_requests",
                f"The key {key.name} has {self._limits.requests_per_key} requests at once.",
                "Wait for their answers, or raise gateway.max_requests_per_key.",
                retry_after_s=1,
            )
        self._in_flight[key.name] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_flight[key.name] -= 1

    def _report(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST") else "other"
        self._metrics.requests.labels(status or "none").inc()
        self._metrics.seconds.labels(method).observe(seconds)
        key: Key | None = scope.get(KEY)
        client = scope.get("client")
        line: dict[str, Any] = {
            "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            "client": client[0] if client else None,
            "key": key.name if key else None,
            "method": method,
            "path": scope["path"][:_MAX_PATH],
            "status": status or None,
            "ms": round(seconds * 1000, 1),
            **scope.get(COUNTS, {}),
        }
        with suppress(OSError):  # a log that cannot be written is no reason to fail a request
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()


def refusal(refused: RequestRefused, *, of_read_api: bool = False) -> Response:
    """The answer to a request that is refused, in the words of the API that was asked."""
    headers = {} if refused.retry_after_s is None else {"Retry-After": str(refused.retry_after_s)}
    if refused.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if refused.code == "ambiguous_length":
        headers["Connection"] = "close"
    document = refused.document()
    if of_read_api:
        document = {"error": refused.code, "message": refused.what, "advice": refused.remedy}
    return Response(json.dumps(document), refused.status, headers, "application/json")


def _refuse_ambiguous(headers: Headers) -> None:
    """A proxy in front could see another end of the body than this server."""
    names = [name for name, _ in headers]
    if b"content-length" in names and b"transfer-encoding" in names:
        raise RequestRefused(
            400,
            "ambiguous_length",
            "The request has both Content-Length and Transfer-Encoding.",
            "Send one of them.",
        )


def _key_of(headers: Headers) -> str | None:
    """The key of a request. Two different ones are refused: a proxy could have checked the other."""
    found = set()
    for name, value in headers:
        text = value.decode("latin-1").strip()
        if name == b"x-api-key":
            found.add(text)
        elif name == b"authorization":
            scheme, _, credentials = text.partition(" ")
            found.add(credentials.strip() if scheme.lower() == "bearer" else "")
    found.discard("")
    if len(found) > 1:
        raise RequestRefused(401, "two_keys", "The request has two different keys.", "Send one key, in one header.")
    return found.pop() if found else None
