"""The files of one life of the spool: appended to at the end, read in order, and removed from the beginning."""

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lineproof.producers.spooling.frames import Record, frames

SEGMENT_BYTES = 4 * 2**20
_NAMES = f"{'[0-9]' * 8}.segment"
_sync = getattr(os, "fdatasync", os.fsync)  # macOS has only the latter


class Place(NamedTuple):
    """A segment's number, and a byte in it."""

    segment: int
    offset: int


class Found(NamedTuple):
    """Where a record lies, and the record; None for a stretch of bytes that cannot be read."""

    start: Place
    end: Place
    record: Record | None


class Segments:
    """Numbered files in a directory. One thread may append while another reads.

    Sizes are asked of the system: it knows them also when a signal or Ctrl-C broke into an append.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._sizes = {int(file.stem): file.stat().st_size for file in directory.glob(_NAMES)}
        self._descriptor = -1  # of the last segment, whose size is the system's business until it is closed
        self._synced = 0
        self.sealed = True  # nothing is appended; until the first roll

    @property
    def first(self) -> Place:
        """Where the oldest record lies."""
        return Place(min(self._sizes, default=0), 0)

    @property
    def end(self) -> Place:
        """Where the next record goes."""
        last = max(self._sizes, default=0)
        return Place(last, self._sizes.get(last, 0) if self.sealed else self.status().st_size)

    @property
    def total(self) -> int:
        """How many bytes lie in the files."""
        return sum(self._sizes.values()) + (0 if self.sealed else self.status().st_size)

    def status(self) -> os.stat_result:
        """What the system knows of the segment that is written to."""
        return os.fstat(self._descriptor)

    def append(self, frame: bytes) -> None:
        """Put a frame into the page cache, which outlives the process. Raises OSError, and keeps nothing of it then."""
        try:
            append_whole(self._descriptor, frame)
        except OSError:
            if not self.status().st_size:
                raise
            self.roll()  # a file can be too large, or broken, where the next is not
            append_whole(self._descriptor, frame)

    def roll(self) -> None:
        """Begin the next segment. A signal handler may append at any moment: there is always a segment to append to."""
        number = max(self._sizes, default=0) + 1
        descriptor = os.open(self._path(number), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        former, self._descriptor = self._descriptor, descriptor
        self._note_size(number - 1, former)
        self._sizes[number] = 0
        self.sealed = False

    def seal(self) -> None:
        """Append no more."""
        if not self.sealed:
            former, self._descriptor = self._descriptor, -1
            self._note_size(max(self._sizes), former)
            self.sealed = True

    def close(self) -> None:
        """Give the descriptor back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _note_size(self, number: int, descriptor: int) -> None:
        if descriptor >= 0:
            self._sizes[number] = os.fstat(descriptor).st_size
            os.close(descriptor)

    def read(self, place: Place) -> Iterator[Found | Place]:
        """Every record from a place on; the place that is reached, each time, when there are no more for now."""
        segment, offset = place
        while True:
            # Asked before reading: a segment that has a successor is complete.
            growing = not self.sealed
            following = min((number for number in list(self._sizes) if number > segment), default=None)
            growing = growing and following is None
            for frame in frames(self._bytes(segment, offset), offset, growing=growing):
                yield Found(Place(segment, frame.start), Place(segment, frame.end), frame.record)
                offset = frame.end
            if growing:
                yield Place(segment, offset)
            elif following is None:
                return
            else:
                segment, offset = following, 0

    def read_again(self, start: Place, end: Place) -> Record | None:
        """One record."""
        data = self._bytes(*start, end.offset - start.offset)
        return next(frames(data, start.offset, growing=False)).record

    def remove_before(self, number: int) -> None:
        """Remove the segments with lower numbers."""
        for passed in [each for each in list(self._sizes) if each < number]:
            self._path(passed).unlink(missing_ok=True)
            del self._sizes[passed]

    def sync(self) -> None:
        """Have everything on the disk itself, which outlives a power failure."""
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
    """Append all of the data in one call, or raise OSError and append nothing."""
    written = os.write(descriptor, data)
    if written < len(data):
        os.ftruncate(descriptor, os.lseek(descriptor, 0, os.SEEK_CUR) - written)
        raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes could be written")


def size_of(directory: Path) -> int:
    """How many bytes lie in the segments of a directory that is somebody else's."""
    total = 0
    for file in directory.glob(_NAMES):
        with suppress(FileNotFoundError):
            total += file.stat().st_size
    return total
