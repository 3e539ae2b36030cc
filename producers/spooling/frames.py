"""How a record lies in a spool file: framed, so that what a crash tore off or a disk spoilt is passed over.

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


class Record(NamedTuple):
    """What is published: all records of one key stay in order."""

    key: bytes
    value: bytes


class Frame(NamedTuple):
    """Where a record lies; `record` is None for a stretch of bytes that cannot be read."""

    start: int
    end: int
    record: Record | None


def framed(record: Record) -> bytes:
    """The bytes of a record's frame."""
    lengths = _LENGTHS.pack(len(record.key), len(record.value))
    return b"".join((_HEAD.pack(_MARKER, _checksum(lengths, record)), lengths, *record))


def frames(data: bytes, base: int, *, growing: bool) -> Iterator[Frame]:
    """The frames in the bytes from `base` to the end of a file.

    What is cut off at the end is no frame: its writer was killed in the act, or, in a growing file, is at it.
    """
    start = 0
    while start < len(data):
        record, end = _frame(data, start)
        if record is None:
            cut_off = _is_beginning(data, start)
            end = -1 if cut_off and growing else _next(data, start + 1)
            if end < 0 and cut_off:
                return
            end = end if end > 0 else len(data)
        yield Frame(base + start, base + end, record)
        start = end


def _frame(data: bytes, start: int) -> tuple[Record | None, int]:
    if not data.startswith(_MARKER, start) or start + _BODY > len(data):
        return None, start
    key_length, value_length = _LENGTHS.unpack_from(data, start + _HEAD.size)
    key_end = start + _BODY + key_length
    end = key_end + value_length
    record = Record(data[start + _BODY : key_end], data[key_end:end])
    checksum = _checksum(data[start + _HEAD.size : start + _BODY], record)
    return (record if end <= len(data) and _HEAD.unpack_from(data, start)[1] == checksum else None), end


def _is_beginning(data: bytes, start: int) -> bool:
    """Whether the bytes could be a frame if more of them followed."""
    if start + _BODY > len(data):
        return data[start:].startswith(_MARKER) or _MARKER.startswith(data[start:])
    return data.startswith(_MARKER, start) and start + _BODY + sum(_LENGTHS.unpack_from(data, start + 8)) > len(data)


def _next(data: bytes, start: int) -> int:
    """Where the next whole frame begins, or -1."""
    while (start := data.find(_MARKER, start)) >= 0 and _frame(data, start)[0] is None:
        start += 1
    return start


def _checksum(lengths: bytes, record: Record) -> int:
    return crc32(record.value, crc32(record.key, crc32(lengths)))
