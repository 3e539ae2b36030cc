"""How far a life of the spool is settled, in a file of fixed size that is written in place."""

import os
import struct
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from lineproof.producers.spooling.segments import Place

_PLACE = struct.Struct(">QQ")
_CHECKSUM = struct.Struct(">I")


class PositionFile:
    """Holds one place. Where it cannot be read, all is sent again; where it cannot be written, some is."""

    def __init__(self, directory: Path) -> None:
        self._descriptor = os.open(directory / "position", os.O_RDWR | os.O_CREAT, 0o600)
        self.noted = self._read()

    def note(self, place: Place) -> None:
        """Write a place down."""
        data = _PLACE.pack(*place)
        with suppress(OSError):
            os.pwrite(self._descriptor, data + _checksum(data), 0)
            self.noted = place

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._descriptor)

    def _read(self) -> Place:
        stored = os.pread(self._descriptor, _PLACE.size + _CHECKSUM.size, 0)
        data = stored[: _PLACE.size]
        whole = len(data) == _PLACE.size and stored[_PLACE.size :] == _checksum(data)
        return Place(*_PLACE.unpack(data)) if whole else Place(0, 0)


def _checksum(data: bytes) -> bytes:
    return _CHECKSUM.pack(crc32(data))
