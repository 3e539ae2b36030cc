"""What was read of the spool and is not settled: some of it is under way, and after a failure is to be sent again."""

from collections import deque

from lineproof.producers.spooling.frames import Record
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.spooling.spool_directory import Entry


class Window:
    """Hands out records in the spool's order, and settles them in that order too, whatever order they are done in."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._entries: deque[Entry] = deque()
        self._again: deque[Entry] = deque()
        self._upcoming: tuple[Record, Entry] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is under way."""
        return not self._entries

    def upcoming(self) -> tuple[Record, Entry] | None:
        """The next record to be sent, the same until it is `sent`; None when there is none now."""
        while self._upcoming is None and self._again:
            entry = self._again.popleft()
            record = self._spool.read_again(entry)
            self._upcoming = (record, entry) if record else None
        while self._upcoming is None and (found := self._spool.read()):
            entry, record = found
            self._entries.append(entry)
            self._upcoming = (record, entry) if record else None
        return self._upcoming

    def sent(self) -> None:
        """Go on to the next."""
        self._upcoming = None

    def settle(self) -> None:
        """Settle what is done and has nothing before it that is not."""
        while self._entries and self._entries[0].done:
            entry = self._entries.popleft()
            entry.life.settle(entry)
        self._spool.tidy()

    def rewind(self) -> None:
        """Send again what is not done."""
        self._upcoming = None
        self._again = deque(entry for entry in self._entries if not entry.done)
