"""One process's part of the spool: its segments, and the position up to which they are settled.

A life is held by a lock on one of its files, which the system frees when the process ends, however it ends. A life
that nobody holds is an orphan, and whoever gets its lock delivers what is left of it.
"""

import fcntl
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from openlineage.client.uuid import generate_new_uuid

from lineproof.producers.spooling.frames import Record
from lineproof.producers.spooling.position import PositionFile
from lineproof.producers.spooling.segments import Place, Segments

BREATH_S = 0.0001
"""A pause that lets a waiting thread have the interpreter; a shorter one is over before that thread is awake."""

_READS_PER_BREATH = 32


@dataclass(eq=False)
class Entry:
    """A record that was read: where it lies, and whether it needs no more sending."""

    life: "Life"
    start: Place
    end: Place
    done: bool = False

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return self.end.offset - self.start.offset


class Life:
    """A directory, held. One thread may append while another reads and settles."""

    def __init__(self, directory: Path, lock: int) -> None:
        self.directory = directory
        self.segments = Segments(directory)
        self.finished = False  # read to the end, and nothing can follow
        self._settled = 0
        self._records: int | None = None
        self.in_flight = 0
        self._lock = lock
        self._file = PositionFile(directory)
        self._position = self._read_to = max(self._file.noted, self.segments.first)
        self._reader = self.segments.read(self._read_to)

    @classmethod
    def create(cls, root: Path) -> "Life":
        """A new one to append to. Who looks for orphans may take it before we hold it: then another."""
        life = None
        while life is None:
            directory = root / str(generate_new_uuid())  # whose order is that of time
            directory.mkdir(mode=0o700, parents=True)
            with suppress(FileNotFoundError):
                life = cls._hold(directory, os.O_CREAT)
        try:
            life.segments.roll()
        except OSError:
            life.remove()
            raise
        life._records = 0
        return life

    @classmethod
    def adopt(cls, directory: Path) -> "Life | None":
        """An orphan; None if its process lives, or somebody else was quicker."""
        try:
            return cls._hold(directory, 0)
        except FileNotFoundError:  # half made or half removed; its maker begins anew if we are quicker
            with suppress(OSError):
                directory.rmdir()
            return None

    @classmethod
    def _hold(cls, directory: Path, flags: int) -> "Life | None":
        lock = os.open(directory / "lock", os.O_RDWR | flags, 0o600)
        life = None
        try:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_there = os.fstat(lock).st_nlink > 0  # or else its former holder has just removed it
                life = cls(directory, lock) if is_there else None
            return life
        finally:
            if life is None:
                os.close(lock)

    def append(self, frame: bytes) -> None:
        """Add a record. Raises OSError when that cannot be done."""
        self.segments.append(frame)
        self._records = (self._records or 0) + 1

    @property
    def pending(self) -> int:
        """How many records are not settled; those of an orphan count when its reading has begun."""
        return max(0, (self._records or 0) - self._settled)

    @property
    def pending_bytes(self) -> int:
        """How much is not settled."""
        return max(0, self.segments.total - self._position.offset)

    @property
    def unread(self) -> bool:
        """Whether there may be something to read."""
        return not self.finished if self.segments.sealed else self._read_to != self.segments.end

    @property
    def exhausted(self) -> bool:
        """Whether it has served its purpose."""
        return self.finished and not self.in_flight

    def overdue(self, mark: Place) -> bool:
        """Whether something before a place is still not settled."""
        return self._position < mark

    def read(self) -> tuple[Entry, Record | None] | None:
        """The next record; None when there is none now. A spoilt record is None beside its entry."""
        if self._records is None:
            self._records = self._count()
        try:
            found = next(self._reader)
        except StopIteration:
            self.finished = True
            return None
        except OSError:
            self._reader = self.segments.read(self._read_to)
            raise
        if isinstance(found, Place):
            self._read_to = found
            return None
        self._read_to = found.end
        self.in_flight += 1
        return Entry(self, found.start, found.end), found.record

    def settle(self, entry: Entry) -> None:
        """Take note that an entry, and all before it, are never to be sent again."""
        self._position = entry.end
        self.in_flight -= 1
        self._settled += 1

    def rewind(self) -> None:
        """Read again what is not settled."""
        self._read_to = self._position
        self._reader = self.segments.read(self._position)
        self.in_flight = 0

    def tidy(self) -> None:
        """Write the position down, and remove the segments before it."""
        if self._position != self._file.noted:
            self._file.note(self._position)
            self.segments.remove_before(self._position.segment)

    def release(self) -> bool:
        """Leave to others what is not settled; whether there is such."""
        self.segments.seal()
        self.tidy()
        left = self.pending_bytes > 0 and not self.exhausted
        if left:
            self.close()
        else:
            self.remove()
        return left

    def remove(self) -> None:
        """Leave nothing behind. The lock goes last: what has none is nobody's."""
        with suppress(OSError):
            self.segments.remove_before(self.segments.end.segment + 1)
            (self.directory / "position").unlink(missing_ok=True)
            (self.directory / "lock").unlink(missing_ok=True)
            self.directory.rmdir()
        self.close()

    def close(self) -> None:
        """Let go. In a forked child this leaves the parent's lock alone, which is shared but not undone by closing."""
        self.segments.close()
        self._file.close()
        os.close(self._lock)

    def _count(self) -> int:
        records = 0
        for _ in self.segments.read(self._read_to):
            records += 1
            if records % _READS_PER_BREATH == 0:
                time.sleep(BREATH_S)
        return records
