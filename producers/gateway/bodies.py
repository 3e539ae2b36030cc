"""The body of a request, read and decompressed within the limits."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

import zstandard
from starlette.requests import ClientDisconnect, Request

from lineproof.producers.gateway.limits import GatewayLimits
from lineproof.producers.gateway.refusals import RequestRefused

ENCODINGS = ("gzip", "zstd")
TOO_LARGE = 413

_CHUNK = 2**16
_GZIP_WINDOW = 31
_MAX_ZSTD_WINDOW = 2**23
"""As RFC 9659 says. A frame may ask for much more memory."""
_MAX_MEMBERS = 100
"""A gzip file can have several members. Very many empty ones would only cost time."""


class BytesInFlight:
    """The bytes of all bodies in memory. A request that would exceed the limit is refused."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.used = 0

    @contextmanager
    def reservation(self) -> Iterator["Reservation"]:
        """What one request takes; given back at the end."""
        own = Reservation(self)
        try:
            yield own
        finally:
            self.used -= own.size

    def take(self, size: int) -> None:
        """Take some bytes, or refuse the request."""
        if self.used + size > self._limit:
            raise RequestRefused(
                429,
                "server_busy",
                "The gateway reads as many bytes at once as it may.",
                "Send the request again later, or raise gateway.max_bytes_in_flight.",
                retry_after_s=1,
            )
        self.used += size


class Reservation:
    """The bytes that one request takes."""

    def __init__(self, all_requests: BytesInFlight) -> None:
        self._all = all_requests
        self.size = 0

    def take(self, size: int) -> None:
        """Take some more bytes, or refuse the request."""
        self._all.take(size)
        self.size += size


async def read_body(request: Request, limits: GatewayLimits, reservation: Reservation) -> bytes:
    """The body as it was sent. Refused as soon as it is longer than the limit."""
    _refuse_length(request.headers.get("content-length"), limits)
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limits.body_bytes:
                raise _too_large(limits)
            reservation.take(len(chunk))
            chunks.append(chunk)
    except ClientDisconnect as error:
        raise RequestRefused(
            400, "disconnected", "The connection was closed before the body was complete.", "Send the request again."
        ) from error
    return b"".join(chunks)


def decompressed(body: bytes, encoding: str, limits: GatewayLimits) -> bytes:
    """The body without its content encoding. Never takes more memory than the limit."""
    try:
        if encoding == "gzip":
            return _gunzip(body, limits)
        if encoding == "zstd":
            return _unzstd(body, limits)
    except (zlib.error, zstandard.ZstdError) as error:
        raise _damaged(encoding, str(error)) from error
    if encoding in ("", "identity"):
        return body
    raise RequestRefused(
        415,
        "unsupported_encoding",
        f"Content-Encoding {encoding[:40]!r} is not supported.",
        f"Use {' or '.join(ENCODINGS)}, or send the body as it is.",
    )


def _gunzip(body: bytes, limits: GatewayLimits) -> bytes:
    parts: list[bytes] = []
    size = 0
    for _ in range(_MAX_MEMBERS):
        member = zlib.decompressobj(_GZIP_WINDOW)
        part = member.decompress(body, limits.decompressed_bytes + 1 - size)
        size += len(part)
        if size > limits.decompressed_bytes:
            raise _too_large_decompressed(limits)
        if not member.eof:
            raise _damaged("gzip", "it is incomplete")
        parts.append(part)
        body = member.unused_data
        if not body:
            return b"".join(parts)
    raise _damaged("gzip", f"it has more than {_MAX_MEMBERS} members")


def _unzstd(body: bytes, limits: GatewayLimits) -> bytes:
    parts: list[bytes] = []
    size = 0
    decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_ZSTD_WINDOW)
    with decompressor.stream_reader(BytesIO(body), read_across_frames=True) as reader:
        while part := reader.read(_CHUNK):
            size += len(part)
            if size > limits.decompressed_bytes:
                raise _too_large_decompressed(limits)
            parts.append(part)
    return b"".join(parts)


def _refuse_length(stated: str | None, limits: GatewayLimits) -> None:
    if stated is not None and stated.isdecimal() and int(stated[:20]) > limits.body_bytes:
        raise _too_large(limits)


def _too_large(limits: GatewayLimits) -> RequestRefused:
    return RequestRefused(
        TOO_LARGE,
        "body_too_large",
        f"The body has more than {limits.body_bytes} bytes.",
        "Send fewer events in a request, compress the body, or raise gateway.max_body_bytes.",
    )


def _too_large_decompressed(limits: GatewayLimits) -> RequestRefused:
    return RequestRefused(
        TOO_LARGE,
        "decompressed_body_too_large",
        f"The body has more than {limits.decompressed_bytes} bytes when decompressed.",
        "Send fewer events in a request, or raise gateway.max_decompressed_bytes.",
    )


def _damaged(encoding: str, detail: str) -> RequestRefused:
    return RequestRefused(
        400, "damaged_body", f"The body is not valid {encoding}: {detail}.", "Compress the whole body once."
    )
