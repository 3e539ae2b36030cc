"""HTTP/1.1 of uvicorn, with the limits that it does not have: slow heads of requests, and the number of connections."""

import asyncio
import json
from functools import partial
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from lineproof.producers.gateway.limits import HEAD_TIMEOUT_S, GatewayLimits
from lineproof.producers.gateway.refusals import RequestRefused


class LimitedProtocol(H11Protocol):
    """Closes a connection whose client is too slow, or that is one too many.

    A client has `HEAD_TIMEOUT_S` from connecting, or from the first byte of a further request, to the end of the head.
    The application limits how long the body takes. What a client still sends after an early answer is read for as
    long, and not kept: closing at once could destroy the answer on its way. A client that does not read its answer is
    cut off, too.
    """

    def __init__(self, limits: GatewayLimits, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._limits = limits
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or refuse it."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            self._refuse(
                RequestRefused(
                    429,
                    "too_many_connections",
                    f"The server has {self._limits.connections} connections.",
                    "Connect again later, or raise gateway.max_connections.",
                    retry_after_s=1,
                )
            )
        else:
            self._start_timer(HEAD_TIMEOUT_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._is_answering or self._is_idle:
            self._stop_timer()
        elif self._timer is None:
            self._start_timer(HEAD_TIMEOUT_S)

    def on_response_complete(self) -> None:
        """After an answer: watch a client that has not sent all of its request."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self._start_timer(self._limits.request_s)
        elif not self._is_answering:
            self._stop_timer()

    def pause_writing(self) -> None:
        """The client does not read its answer: wait for it, but not for ever."""
        super().pause_writing()
        self._stop_write_timer()
        self._write_timer = self.loop.call_later(self._limits.request_s, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read most of its answer."""
        self._stop_write_timer()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._abort_later()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def _is_idle(self) -> bool:
        return self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]

    def _start_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self._expire)

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _stop_write_timer(self) -> None:
        if self._write_timer:
            self._write_timer.cancel()
            self._write_timer = None

    def _abort_later(self) -> None:
        """Closing waits until the client has read everything."""
        self._stop_write_timer()
        self._write_timer = self.loop.call_later(HEAD_TIMEOUT_S, self.transport.abort)

    def _expire(self) -> None:
        if self.conn.their_state is h11.IDLE:
            self._refuse(
                RequestRefused(
                    408,
                    "too_slow",
                    f"The head of the request did not arrive within {HEAD_TIMEOUT_S:g} s.",
                    "Send it in one piece.",
                )
            )
        else:
            self.transport.abort()

    def _refuse(self, refused: RequestRefused) -> None:
        body = json.dumps(refused.document()).encode()
        headers = {"Content-Type": "application/json", "Content-Length": len(body), "Connection": "close"}
        if refused.retry_after_s is not None:
            headers["Retry-After"] = refused.retry_after_s
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}\r\n{lines}\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()
        self._abort_later()


def limited_protocol(limits: GatewayLimits) -> Any:
    """What uvicorn calls to make the protocol of a connection."""
    return partial(LimitedProtocol, limits)
