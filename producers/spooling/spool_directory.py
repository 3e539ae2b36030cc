"""One process's directory in the spool: its segments, and the position up to which they are acknowledged.

A process holds its directory by a lock on a file in it. The system releases the lock when the process ends, however it
ends. A directory without a lock holder is orphaned: the process that gets its lock delivers the rest.
"""

import fcntl
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from openlineage.client.uuid import generate_new_uuid

from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.producers.spooling.position import PositionFile
from lineproof.producers.spooling.segments import SegmentPosition, Segments

YIELD_S = 0.0001
"""A pause that lets a waiting thread take the interpreter. A shorter pause ends before that thread is awake."""

_READS_PER_YIELD = 32


@dataclass(eq=False)
class SpoolEntry:
    """A record that was read: its byte range, and whether it is done (delivered, rejected or lost)."""

    directory: "SpoolDirectory"
    start: SegmentPosition
    end: SegmentPosition
    done: bool = False

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.end.offset - self.start.offset


class SpoolDirectory:
    """A locked directory. One thread may append while another reads and acknowledges."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.segments = Segments(path)
        self.in_flight = 0
        self._at_end = False  # everything is read, and nothing can follow
        self._acknowledged = 0
        self._records: int | None = None
        self._lock = lock
        self._file = PositionFile(path)
        self._position = self._read_to = max(self._file.stored, self.segments.first)
        self._reader = self.segments.read(self._read_to)

    @classmethod
    def create(cls, root: Path) -> "SpoolDirectory":
        """Create a new directory to append to. Another process may adopt it before it is locked: then try again."""
        created = None
        while created is None:
            path = root / str(generate_new_uuid())  # UUIDv7: names sort by time
            path.mkdir(mode=0o700, parents=True)
            with suppress(FileNotFoundError):
                created = cls._locked(path, os.O_CREAT)
        try:
            created.segments.roll()
        except OSError:
            created.remove()
            raise
        created._records = 0
        return created

    @classmethod
    def adopt(cls, path: Path) -> "SpoolDirectory | None":
        """Take over an orphaned directory. Returns None if its process lives, or another process was faster."""
        try:
            return cls._locked(path, 0)
        except FileNotFoundError:  # half created or half removed; a process that is creating it will create another
            with suppress(OSError):
                path.rmdir()
            return None

    @classmethod
    def _locked(cls, path: Path, flags: int) -> "SpoolDirectory | None":
        lock = os.open(path / "lock", os.O_RDWR | flags, 0o600)
        locked = None
        try:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                exists = os.fstat(lock).st_nlink > 0  # its previous owner may have just removed it
                locked = cls(path, lock) if exists else None
            return locked
        finally:
            if locked is None:
                os.close(lock)

    def append(self, frame: bytes) -> None:
        """Append a record. Raises OSError if it cannot be written."""
        self.segments.append(frame)
        self._records = (self._records or 0) + 1

    @property
    def pending(self) -> int:
        """The number of records that are not acknowledged. Those of an orphan are counted at the first read."""
        return max(0, (self._records or 0) - self._acknowledged)

    @property
    def pending_bytes(self) -> int:
        """The size of the records that are not acknowledged."""
        return max(0, self.segments.total_bytes - self._position.offset)

    @property
    def has_unread(self) -> bool:
        """Whether there may be something to read."""
        return not self._at_end if self.segments.sealed else self._read_to != self.segments.end

    @property
    def is_drained(self) -> bool:
        """Whether everything is read and acknowledged, and nothing can follow."""
        return self._at_end and not self.in_flight

    def has_pending_before(self, position: SegmentPosition) -> bool:
        """Whether a record before a position is not acknowledged."""
        return self._position < position

    def read(self) -> tuple[SpoolEntry, SpooledRecord | None] | None:
        """The next record, or None if there is none for now. A corrupt record is an entry with None."""
        if self._records is None:
            self._records = self._count()
        try:
            found = next(self._reader)
        except StopIteration:
            self._at_end = True
            return None
        except OSError:
            self._reader = self.segments.read(self._read_to)
            raise
        if isinstance(found, SegmentPosition):
            self._read_to = found
            return None
        self._read_to = found.end
        self.in_flight += 1
        return SpoolEntry(self, found.start, found.end), found.record

    def acknowledge(self, entry: SpoolEntry) -> None:
        """Mark an entry, and all before it, as never to be sent again."""
        self._position = entry.end
        self.in_flight -= 1
        self._acknowledged += 1

    def rewind(self) -> None:
        """Read everything again that is not acknowledged."""
        self._read_to = self._position
        self._reader = self.segments.read(self._position)
        self.in_flight = 0

    def commit(self) -> None:
        """Store the position, and remove the segments before it."""
        if self._position != self._file.stored:
            self._file.store(self._position)
            self.segments.remove_before(self._position.segment)

    def release(self) -> bool:
        """Unlock the directory, so that others can adopt it. Returns whether it has pending records."""
        self.segments.seal()
        self.commit()
        has_pending = self.pending_bytes > 0 and not self.is_drained
        if has_pending:
            self.close()
        else:
            self.remove()
        return has_pending

    def remove(self) -> None:
        """Remove all files. The lock file goes last: a directory without it belongs to nobody."""
        with suppress(OSError):
            self.segments.remove_before(self.segments.end.segment + 1)
            (self.path / "position").unlink(missing_ok=True)
            (self.path / "lock").unlink(missing_ok=True)
            self.path.rmdir()
        self.close()

    def close(self) -> None:
        """Close all files. In a forked child this keeps the parent's lock, which is shared."""
        self.segments.close()
        self._file.close()
        os.close(self._lock)

    def _count(self) -> int:
        records = 0
        for _ in self.segments.read(self._read_to):
            records += 1
            if records % _READS_PER_YIELD == 0:
                time.sleep(YIELD_S)
        return records
