"""Records that were read from the spool and are not acknowledged. After a failure they are sent again."""

from collections import deque

from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.spooling.spool_directory import SpoolEntry


class InFlight:
    """Hands out records in the spool's order, and acknowledges them in that order, whichever is delivered first."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._entries: deque[SpoolEntry] = deque()
        self._retries: deque[SpoolEntry] = deque()
        self._next: tuple[SpooledRecord, SpoolEntry] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no record is in flight."""
        return not self._entries

    def next_record(self) -> tuple[SpooledRecord, SpoolEntry] | None:
        """The next record to send, the same until `mark_sent`. None if there is none for now."""
        while self._next is None and self._retries:
            entry = self._retries.popleft()
            record = self._spool.reread(entry)
            self._next = (record, entry) if record else None
        while self._next is None and (found := self._spool.read()):
            entry, record = found
            self._entries.append(entry)
            self._next = (record, entry) if record else None
        return self._next

    def mark_sent(self) -> None:
        """Move on to the next record."""
        self._next = None

    def acknowledge(self) -> None:
        """Acknowledge the entries at the front that are done, and commit the spool."""
        while self._entries and self._entries[0].done:
            entry = self._entries.popleft()
            entry.directory.acknowledge(entry)
        self._spool.commit()

    def rewind(self) -> None:
        """Send everything again that is not done."""
        self._next = None
        self._retries = deque(entry for entry in self._entries if not entry.done)
