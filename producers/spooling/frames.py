"""The frame of a record in a spool file. It lets a reader skip a truncated or corrupt record.

A frame is a marker, a checksum, the lengths of key and value, the key, and the value.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

_MARKER = b"\xa7Lp\x01"
_HEAD = struct.Struct(">4sI")
_LENGTHS = struct.Struct(">II")
_BODY = _HEAD.size + _LENGTHS.size


class SpooledRecord(NamedTuple):
    """Key and value of a record as the spool holds it. Records with the same key stay in order."""

    key: bytes
    value: bytes


class Frame(NamedTuple):
    """A record and its byte range; `record` is None for a corrupt range."""

    start: int
    end: int
    record: SpooledRecord | None


def encode_frame(record: SpooledRecord) -> bytes:
    """The bytes of a record's frame."""
    lengths = _LENGTHS.pack(len(record.key), len(record.value))
    return b"".join((_HEAD.pack(_MARKER, _checksum(lengths, record)), lengths, *record))


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
    if not data.startswith(_MARKER, start) or start + _BODY > len(data):
        return None, start
    key_length, value_length = _LENGTHS.unpack_from(data, start + _HEAD.size)
    key_end = start + _BODY + key_length
    end = key_end + value_length
    record = SpooledRecord(data[start + _BODY : key_end], data[key_end:end])
    checksum = _checksum(data[start + _HEAD.size : start + _BODY], record)
    return (record if end <= len(data) and _HEAD.unpack_from(data, start)[1] == checksum else None), end


def _is_truncated(data: bytes, start: int) -> bool:
    """Whether the bytes could be a frame if more of them followed."""
    if start + _BODY > len(data):
        return data[start:].startswith(_MARKER) or _MARKER.startswith(data[start:])
    return data.startswith(_MARKER, start) and start + _BODY + sum(_LENGTHS.unpack_from(data, start + 8)) > len(data)


def _next_frame(data: bytes, start: int) -> int:
    """The offset of the next complete frame, or -1."""
    while (start := data.find(_MARKER, start)) >= 0 and _decode(data, start)[0] is None:
        start += 1
    return start


def _checksum(lengths: bytes, record: SpooledRecord) -> int:
    return crc32(record.value, crc32(record.key, crc32(lengths)))
