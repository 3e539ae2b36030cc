"""The spool: the queue between a publish and its endpoint, on disk, so that no crash empties it.

`<root>/<life>/NNNNNNNN.segment`: each process appends to a life of its own, and delivers the lives of those that ended
before they could.
"""

import errno
import logging
import os
import threading
import uuid
from contextlib import suppress
from pathlib import Path

from lineproof.producers.spooling.frames import Record, framed
from lineproof.producers.spooling.log_throttle import Complaints
from lineproof.producers.spooling.segments import SEGMENT_BYTES, Place, size_of
from lineproof.producers.spooling.spool_directory import Entry, Life
from lineproof.schemas.errors import LineproofError

log = logging.getLogger(__name__)


class SpoolUnusable(LineproofError):
    """The directory of the spool cannot be written to."""


class Spool:
    """All lives under one root that this process knows of: its own, and those it adopted."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.root = root.absolute()
        self._max_bytes = max_bytes
        self._losses, self._troubles = Complaints(log), Complaints(log)
        with suppress(OSError):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(self.root, os.R_OK | os.W_OK | os.X_OK):
            raise SpoolUnusable(
                f"The spool directory {self.root} cannot be made or written to.",
                "Name a directory that this process may write to.",
            )
        self._begin()

    def _begin(self) -> None:
        # Re-entrant, for a signal may come while its own thread appends, and its handler append too.
        self.guard = threading.RLock()
        self._unguarded = threading.Condition(self.guard)
        self.taken = self.lost = 0
        self._own: Life | None = None
        self._adopted: list[Life] = []
        self._elsewhere = 0  # bytes in the lives of other processes
        self._appending = False
        self._mark = Place(0, 0)

    def append(self, record: Record) -> bool:
        """Take a record; False when it is lost for want of room. Neither waits nor raises."""
        frame = framed(record)
        try:
            with self.guard:
                interrupting, self._appending = self._appending, True
                try:
                    self._append(frame, interrupting)
                finally:
                    self._appending = interrupting
                self.taken += 1
            return True
        except OSError as error:
            self._lose(1, f"An event could not be spooled in {self.root} and is lost: {error}.")
            return False

    def wait(self, timeout_s: float) -> None:
        """Let others have the guard for a while, even where a signal handler waits that broke into an append."""
        with self.guard:
            self._unguarded.wait(timeout_s)

    @property
    def pending(self) -> int:
        """How many records are not settled."""
        with self.guard:
            return sum(life.pending for life in self._lives())

    @property
    def pending_bytes(self) -> int:
        """How much room they take."""
        with self.guard:
            return sum(life.pending_bytes for life in self._lives())

    @property
    def unread(self) -> bool:
        """Whether there may be something to read."""
        with self.guard:
            return any(life.unread for life in self._lives())

    def adopt(self) -> None:
        """Take over the lives whose processes are gone."""
        with suppress(OSError):
            self._elsewhere = sum(self._adopt(each) for each in sorted(self.root.iterdir()) if _is_life(each))

    def read(self) -> tuple[Entry, Record | None] | None:
        """The next record, of adopted lives first; None when there is none now. What is spoilt has no record."""
        for life in self._lives():
            try:
                found = life.read()
            except FileNotFoundError:
                self._drop(life)
                continue
            if found:
                if found[1] is None:
                    self._lose_entry(found[0])
                return found
        return None

    def read_again(self, entry: Entry) -> Record | None:
        """A record that was read before; None when it is there no more."""
        record = None
        with suppress(FileNotFoundError):
            record = entry.life.segments.read_again(entry.start, entry.end)
        if record is None:
            self._lose_entry(entry)
        return record

    def tidy(self) -> None:
        """Write positions down, and remove what is settled."""
        for life in self._lives():
            life.tidy()
            if life.exhausted:
                with self.guard:
                    self._adopted.remove(life)
                    life.remove()

    def sync_overdue(self) -> None:
        """Have on the disk itself what was here at the last call and still is."""
        if own := self._own:
            try:
                if own.overdue(self._mark):
                    own.segments.sync()
            except OSError as error:
                self._troubles.say(f"The spool in {self.root} cannot be put on its disk: {error}.")
            with self.guard:
                self._mark = own.segments.end

    def release(self) -> bool:
        """Let go of everything, for others to adopt; whether something is left for them."""
        with self.guard:
            released, self._adopted = self._adopted, []
            if self._own and self._appending:  # a signal handler broke into an append, which will go on
                self._own.rewind()
            elif self._own:
                released.append(self._own)
                self._own = None
            left = [life.release() for life in released]
            return any(left) or self.pending_bytes > 0

    def forget(self) -> None:
        """Begin anew in a forked child: what is known here is the parent's."""
        for life in self._lives():
            life.close()
        self._begin()

    def _append(self, frame: bytes, interrupting: bool) -> None:
        # An append that interrupts another in the same thread must not change files under its hands.
        own = self._own if interrupting and self._own else self._writable()
        if self.pending_bytes + self._elsewhere + len(frame) > self._max_bytes:
            raise OSError(errno.EDQUOT, f"it holds as much as it may, {self._max_bytes} bytes")
        own.append(frame)

    def _writable(self) -> Life:
        if self._own:
            status = self._own.segments.status()
            if not status.st_nlink:  # somebody removed it
                self._own.segments.seal()
                self._adopted.append(self._own)
                self._own = None
            elif status.st_size >= SEGMENT_BYTES:
                with suppress(OSError):  # rather a segment that grows than an event lost
                    self._own.segments.roll()
        if self._own is None:
            new = Life.create(self.root)
            if self._own is None:
                self._own = new
            else:  # a signal handler was quicker
                new.remove()
        return self._own

    def _lives(self) -> list[Life]:
        return [*self._adopted, self._own] if self._own else self._adopted.copy()

    def _adopt(self, directory: Path) -> int:
        """How many bytes stay with somebody else."""
        with self.guard:
            if any(life.directory == directory for life in self._lives()):
                return 0
            with suppress(OSError):  # it may belong to another user
                if life := Life.adopt(directory):
                    self._adopted.append(life)
                    return 0
        return size_of(directory)

    def _drop(self, life: Life) -> None:
        with self.guard:
            if life is self._own:
                self._own = None
            else:
                self._adopted.remove(life)
            life.close()
        self._lose(life.pending - life.in_flight, f"Somebody removed files from {life.directory}; its events are lost.")

    def _lose_entry(self, entry: Entry) -> None:
        entry.done = True
        self._lose(1, f"A stretch of {entry.life.directory} at {entry.start} is spoilt; its event is lost.")

    def _lose(self, count: int, text: str) -> None:
        with self.guard:
            self.lost += count
        self._losses.say(text)


def _is_life(directory: Path) -> bool:
    try:
        return bool(uuid.UUID(directory.name))
    except ValueError:
        return False
