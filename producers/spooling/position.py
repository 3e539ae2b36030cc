"""The acknowledged position of a spool directory, in a file of fixed size that is overwritten in place."""

import os
import struct
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from lineproof.producers.spooling.segments import SegmentPosition

_POSITION = struct.Struct(">QQ")
_CHECKSUM = struct.Struct(">I")


class PositionFile:
    """Holds one position. If it cannot be read, all records are sent again; if it cannot be written, some are."""

    def __init__(self, directory: Path) -> None:
        self._descriptor = os.open(directory / "position", os.O_RDWR | os.O_CREAT, 0o600)
        self.stored = self._read()

    def store(self, position: SegmentPosition) -> None:
        """Write a position."""
        data = _POSITION.pack(*position)
        with suppress(OSError):
            os.pwrite(self._descriptor, data + _checksum(data), 0)
            self.stored = position

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _read(self) -> SegmentPosition:
        stored = os.pread(self._descriptor, _POSITION.size + _CHECKSUM.size, 0)
        data = stored[: _POSITION.size]
        is_valid = len(data) == _POSITION.size and stored[_POSITION.size :] == _checksum(data)
        return SegmentPosition(*_POSITION.unpack(data)) if is_valid else SegmentPosition(0, 0)


def _checksum(data: bytes) -> bytes:
    return _CHECKSUM.pack(crc32(data))
