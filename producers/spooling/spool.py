"""The spool: an on-disk queue between a publish and its endpoint, so that a crash loses no event.

`<root>/<UUID>/NNNNNNNN.segment`: each process appends to a directory of its own, and delivers the directories of
processes that ended before they could.
"""

import errno
import logging
import os
import threading
import uuid
from contextlib import suppress
from pathlib import Path

from lineproof.producers.spooling.frames import SpooledRecord, encode_frame
from lineproof.producers.spooling.log_throttle import LogThrottle
from lineproof.producers.spooling.segments import SEGMENT_BYTES, SegmentPosition, segment_bytes
from lineproof.producers.spooling.spool_directory import SpoolDirectory, SpoolEntry
from lineproof.schemas.errors import LineproofError

log = logging.getLogger(__name__)


class SpoolUnusable(LineproofError):
    """The spool directory cannot be written to."""


class Spool:
    """All directories under one root that this process works with: its own, and those it adopted."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.root = root.absolute()
        self._max_bytes = max_bytes
        self._loss_log, self._sync_log = LogThrottle(log), LogThrottle(log)
        with suppress(OSError):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(self.root, os.R_OK | os.W_OK | os.X_OK):
            raise SpoolUnusable(
                f"The spool directory {self.root} cannot be created or written to.",
                "Choose a directory that this process may write to.",
            )
        self._reset()

    def _reset(self) -> None:
        # Re-entrant: a signal handler may append while its own thread appends.
        self.lock = threading.RLock()
        self._lock_released = threading.Condition(self.lock)
        self.taken = self.lost = 0
        self._own: SpoolDirectory | None = None
        self._adopted: list[SpoolDirectory] = []
        self._foreign_bytes = 0  # in the directories of other processes
        self._appending = False
        self._sync_mark = SegmentPosition(0, 0)

    def append(self, record: SpooledRecord) -> bool:
        """Append a record. Neither waits nor raises; returns False if the record is lost because there is no room."""
        frame = encode_frame(record)
        try:
            with self.lock:
                interrupting, self._appending = self._appending, True
                try:
                    self._append(frame, interrupting)
                finally:
                    self._appending = interrupting
                self.taken += 1
            return True
        except OSError as error:
            self._count_lost(1, f"An event could not be written to the spool {self.root} and is lost: {error}.")
            return False

    def wait(self, timeout_s: float) -> None:
        """Release the lock for a while, even in a signal handler that interrupted an append."""
        with self.lock:
            self._lock_released.wait(timeout_s)

    @property
    def pending(self) -> int:
        """The number of records that are not acknowledged."""
        with self.lock:
            return sum(directory.pending for directory in self._directories())

    @property
    def pending_bytes(self) -> int:
        """The size of the records that are not acknowledged."""
        with self.lock:
            return sum(directory.pending_bytes for directory in self._directories())

    @property
    def has_unread(self) -> bool:
        """Whether there may be something to read."""
        with self.lock:
            return any(directory.has_unread for directory in self._directories())

    def adopt(self) -> None:
        """Take over the directories of processes that have ended."""
        with suppress(OSError):
            paths = [path for path in sorted(self.root.iterdir()) if _is_spool_directory(path)]
            self._foreign_bytes = sum(map(self._adopt, paths))

    def read(self) -> tuple[SpoolEntry, SpooledRecord | None] | None:
        """The next record, adopted directories first. None if there is none for now; a corrupt record is None."""
        for directory in self._directories():
            try:
                found = directory.read()
            except FileNotFoundError:
                self._drop(directory)
                continue
            if found:
                if found[1] is None:
                    self._lose_entry(found[0])
                return found
        return None

    def reread(self, entry: SpoolEntry) -> SpooledRecord | None:
        """Read a record again; None if it no longer exists."""
        record = None
        with suppress(FileNotFoundError):
            record = entry.directory.segments.reread(entry.start, entry.end)
        if record is None:
            self._lose_entry(entry)
        return record

    def commit(self) -> None:
        """Store the positions, and remove what is acknowledged."""
        for directory in self._directories():
            directory.commit()
            if directory.is_drained:
                with self.lock:
                    self._adopted.remove(directory)
                    directory.remove()

    def sync_overdue(self) -> None:
        """Flush to disk if a record has been pending since before the last call."""
        if own := self._own:
            try:
                if own.has_pending_before(self._sync_mark):
                    own.segments.sync()
            except OSError as error:
                self._sync_log.error(f"The spool {self.root} cannot be flushed to disk: {error}.")
            with self.lock:
                self._sync_mark = own.segments.end

    def release(self) -> bool:
        """Unlock all directories, so that others can adopt them. Returns whether there are pending records."""
        with self.lock:
            released, self._adopted = self._adopted, []
            if self._own and self._appending:  # a signal handler interrupted an append, which will continue
                self._own.rewind()
            elif self._own:
                released.append(self._own)
                self._own = None
            has_pending = [directory.release() for directory in released]
            return any(has_pending) or self.pending_bytes > 0

    def reset_after_fork(self) -> None:
        """Start empty in a forked child: the directories belong to the parent."""
        for directory in self._directories():
            directory.close()
        self._reset()

    def _append(self, frame: bytes, interrupting: bool) -> None:
        # An append that interrupts another in the same thread must not change the file under it.
        own = self._own if interrupting and self._own else self._writable()
        if self.pending_bytes + self._foreign_bytes + len(frame) > self._max_bytes:
            raise OSError(errno.EDQUOT, f"it has reached its limit of {self._max_bytes} bytes")
        own.append(frame)

    def _writable(self) -> SpoolDirectory:
        if self._own:
            status = self._own.segments.status()
            if not status.st_nlink:  # somebody removed the file
                self._own.segments.seal()
                self._adopted.append(self._own)
                self._own = None
            elif status.st_size >= SEGMENT_BYTES:
                with suppress(OSError):  # a segment that is too large is better than a lost event
                    self._own.segments.roll()
        if self._own is None:
            new = SpoolDirectory.create(self.root)
            if self._own is None:
                self._own = new
            else:  # a signal handler was faster
                new.remove()
        return self._own

    def _directories(self) -> list[SpoolDirectory]:
        return [*self._adopted, self._own] if self._own else self._adopted.copy()

    def _adopt(self, path: Path) -> int:
        """Adopt a directory if it is orphaned. Returns the bytes that stay with another process."""
        with self.lock:
            if any(directory.path == path for directory in self._directories()):
                return 0
            with suppress(OSError):  # it may belong to another user
                if adopted := SpoolDirectory.adopt(path):
                    self._adopted.append(adopted)
                    return 0
        return segment_bytes(path)

    def _drop(self, directory: SpoolDirectory) -> None:
        with self.lock:
            if directory is self._own:
                self._own = None
            else:
                self._adopted.remove(directory)
            directory.close()
        unread = directory.pending - directory.in_flight
        self._count_lost(unread, f"Files were removed from {directory.path}; its events are lost.")

    def _lose_entry(self, entry: SpoolEntry) -> None:
        entry.done = True
        self._count_lost(1, f"A record in {entry.directory.path} at {entry.start} is corrupt; its event is lost.")

    def _count_lost(self, count: int, text: str) -> None:
        with self.lock:
            self.lost += count
        self._loss_log.error(text)


def _is_spool_directory(path: Path) -> bool:
    try:
        return bool(uuid.UUID(path.name))
    except ValueError:
        return False
