"""The segment files of one spool directory: appended at the end, read in order, removed from the beginning."""

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lineproof.producers.spooling.frames import SpooledRecord, decode_frames

SEGMENT_BYTES = 4 * 2**20
_NAMES = f"{'[0-9]' * 8}.segment"
_sync = getattr(os, "fdatasync", os.fsync)  # macOS has only fsync


class SegmentPosition(NamedTuple):
    """A segment's number, and a byte offset in it."""

    segment: int
    offset: int


class StoredRecord(NamedTuple):
    """A record and its byte range in the segments; `record` is None for a corrupt range."""

    start: SegmentPosition
    end: SegmentPosition
    record: SpooledRecord | None


class Segments:
    """Numbered files in a directory. One thread may append while another reads.

    Sizes are read from the file system: they are right even if a signal or Ctrl-C interrupted an append.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._sizes = {int(file.stem): file.stat().st_size for file in directory.glob(_NAMES)}
        self._descriptor = -1  # of the last segment; its size is in the file system until it is closed
        self._synced = 0
        self.sealed = True  # no appends; until the first roll

    @property
    def first(self) -> SegmentPosition:
        """The position of the oldest record."""
        return SegmentPosition(min(self._sizes, default=0), 0)

    @property
    def end(self) -> SegmentPosition:
        """The position of the next record."""
        last = max(self._sizes, default=0)
        return SegmentPosition(last, self._sizes.get(last, 0) if self.sealed else self.status().st_size)

    @property
    def total_bytes(self) -> int:
        """The size of all segments."""
        return sum(self._sizes.values()) + (0 if self.sealed else self.status().st_size)

    def status(self) -> os.stat_result:
        """The file status of the segment that is appended to."""
        return os.fstat(self._descriptor)

    def append(self, frame: bytes) -> None:
        """Write a frame to the page cache, which survives a crash of the process.

        Raises OSError and leaves nothing behind if it cannot be written.
        """
        try:
            append_whole(self._descriptor, frame)
        except OSError:
            if not self.status().st_size:
                raise
            self.roll()  # this file may be too large or broken; a new one may work
            append_whole(self._descriptor, frame)

    def roll(self) -> None:
        """Start the next segment. At every moment there is a segment that a signal handler can append to."""
        number = max(self._sizes, default=0) + 1
        descriptor = os.open(self._path(number), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        previous, self._descriptor = self._descriptor, descriptor
        self._close_segment(number - 1, previous)
        self._sizes[number] = 0
        self.sealed = False

    def seal(self) -> None:
        """Stop appending."""
        if not self.sealed:
            previous, self._descriptor = self._descriptor, -1
            self._close_segment(max(self._sizes), previous)
            self.sealed = True

    def close(self) -> None:
        """Close the open segment."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _close_segment(self, number: int, descriptor: int) -> None:
        if descriptor >= 0:
            self._sizes[number] = os.fstat(descriptor).st_size
            os.close(descriptor)

    def read(self, position: SegmentPosition) -> Iterator[StoredRecord | SegmentPosition]:
        """Every record from a position on. Yields the position reached whenever there are no more records for now."""
        segment, offset = position
        while True:
            # Look for the next segment before reading: a segment that has a successor is complete.
            growing = not self.sealed
            following = min((number for number in list(self._sizes) if number > segment), default=None)
            growing = growing and following is None
            for frame in decode_frames(self._bytes(segment, offset), offset, growing=growing):
                start, end = SegmentPosition(segment, frame.start), SegmentPosition(segment, frame.end)
                yield StoredRecord(start, end, frame.record)
                offset = frame.end
            if growing:
                yield SegmentPosition(segment, offset)
            elif following is None:
                return
            else:
                segment, offset = following, 0

    def reread(self, start: SegmentPosition, end: SegmentPosition) -> SpooledRecord | None:
        """Read a single record."""
        data = self._bytes(*start, end.offset - start.offset)
        return next(decode_frames(data, start.offset, growing=False)).record

    def remove_before(self, number: int) -> None:
        """Remove the segments with lower numbers."""
        for earlier in [known for known in list(self._sizes) if known < number]:
            self._path(earlier).unlink(missing_ok=True)
            del self._sizes[earlier]

    def sync(self) -> None:
        """Flush everything to disk, so that it survives a power failure."""
        numbers = sorted(number for number in list(self._sizes) if number >= self._synced)
        for path in (*map(self._path, numbers), self._directory):
            with suppress(FileNotFoundError):
                descriptor = os.open(path, os.O_RDONLY)
                try:
                    _sync(descriptor)
                finally:
                    os.close(descriptor)
        self._synced = max(numbers, default=self._synced)

    def _bytes(self, segment: int, offset: int, count: int = -1) -> bytes:
        if segment not in self._sizes:
            return b""
        with self._path(segment).open("rb", buffering=0) as file:
            file.seek(offset)
            return file.read(count)

    def _path(self, number: int) -> Path:
        return self._directory / f"{number:08}.segment"


def append_whole(descriptor: int, data: bytes) -> None:
    """Append all of the data in one write, or raise OSError and append nothing."""
    written = os.write(descriptor, data)
    if written < len(data):
        os.ftruncate(descriptor, os.lseek(descriptor, 0, os.SEEK_CUR) - written)
        raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes could be written")


def segment_bytes(directory: Path) -> int:
    """The size of all segments in a directory that another process owns."""
    total = 0
    for file in directory.glob(_NAMES):
        with suppress(FileNotFoundError):
            total += file.stat().st_size
    return total
