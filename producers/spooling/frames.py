"""The frame of a record in a spool file. It lets a reader skip a truncated or corrupt record.

A frame is a marker, a checksum, the lengths of key, value and headers, and these three. A record without headers has a
marker of its own and no third length, as in spools of earlier versions.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import NamedTuple
from zlib import crc32

_MARKER = b"\xa7Lp\x01"
_MARKER_WITH_HEADERS = b"\xa7Lp\x02"
_MARKERS = (_MARKER, _MARKER_WITH_HEADERS)
_ANY_MARKER = re.compile(b"|".join(map(re.escape, _MARKERS)))
_HEAD = struct.Struct(">4sI")
_LENGTHS = {_MARKER: struct.Struct(">II"), _MARKER_WITH_HEADERS: struct.Struct(">III")}


class SpooledRecord(NamedTuple):
    """A record as the spool holds it. Records with the same key stay in order."""

    key: bytes
    value: bytes
    headers: bytes = b""
    """`NAME=VALUE` lines; names and values have no line breaks."""


class Frame(NamedTuple):
    """A record and its byte range; `record` is None for a corrupt range."""

    start: int
    end: int
    record: SpooledRecord | None


def encode_headers(headers: Mapping[str, str]) -> bytes:
    """Headers of a record as the spool holds them."""
    return "\n".join(f"{name}={value}" for name, value in headers.items()).encode()


def decode_headers(headers: bytes) -> list[tuple[str, bytes]]:
    """Headers from the spool as Kafka takes them."""
    pairs = (line.partition(b"=") for line in headers.splitlines())
    return [(name.decode(), value) for name, _, value in pairs]


def encode_frame(record: SpooledRecord) -> bytes:
    """The bytes of a record's frame."""
    marker = _MARKER_WITH_HEADERS if record.headers else _MARKER
    parts = record if record.headers else record[:2]
    lengths = _LENGTHS[marker].pack(*map(len, parts))
    return b"".join((_HEAD.pack(marker, _checksum(lengths, *parts)), lengths, *parts))


def decode_frames(data: bytes, base: int, *, growing: bool) -> Iterator[Frame]:
    """The frames in the bytes from offset `base` to the end of a file.

    A truncated frame at the end is skipped: its writer was killed, or, if the file is growing, is still writing.
    """
    start = 0
    while start < len(data):
        record, end = _decode(data, start)
        if record is None:
            truncated = _is_truncated(data, start)
            end = -1 if truncated and growing else _next_frame(data, start + 1)
            if end < 0 and truncated:
                return
            end = end if end > 0 else len(data)
        yield Frame(base + start, base + end, record)
        start = end


def _decode(data: bytes, start: int) -> tuple[SpooledRecord | None, int]:
    lengths = _LENGTHS.get(data[start : start + 4])
    body = start + _HEAD.size + (lengths.size if lengths else 0)
    if lengths is None or body > len(data):
        return None, start
    parts, end = [], body
    for length in lengths.unpack_from(data, start + _HEAD.size):
        parts.append(data[end : end + length])
        end += length
    checksum = _checksum(data[start + _HEAD.size : body], *parts)
    is_whole = end <= len(data) and _HEAD.unpack_from(data, start)[1] == checksum
    return (SpooledRecord(*parts) if is_whole else None), end


def _is_truncated(data: bytes, start: int) -> bool:
    """Whether the bytes could be a frame if more of them followed."""
    marker = data[start : start + 4]
    lengths = _LENGTHS.get(marker)
    if lengths is None:
        return len(marker) < len(_MARKER) and any(known.startswith(marker) for known in _MARKERS)
    body = start + _HEAD.size + lengths.size
    return body > len(data) or body + sum(lengths.unpack_from(data, start + _HEAD.size)) > len(data)


def _next_frame(data: bytes, start: int) -> int:
    """The offset of the next complete frame, or -1."""
    while found := _ANY_MARKER.search(data, start):
        if _decode(data, found.start())[0] is not None:
            return found.start()
        start = found.start() + 1
    return -1


def _checksum(*parts: bytes) -> int:
    return reduce(lambda checksum, part: crc32(part, checksum), parts, 0)
