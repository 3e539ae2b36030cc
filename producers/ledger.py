"""The accounting ledger of a run: input = processed + filtered + errored."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from lineproof.producers.facets import AccountingLedgerRunFacet

RecordT = TypeVar("RecordT")


@dataclass
class _Hand:
    """The record that a loop is at."""

    fate: str = "processed"


@dataclass
class Ledger:
    """What becomes of every record a run reads: counted by `count`, or given by `book`."""

    read: int = 0
    processed: int = 0
    filtered: int = 0
    errored: int = 0
    is_kept: bool = False
    _hands: list[_Hand] = field(default_factory=list)

    def book(self, *, read: int, processed: int, filtered: int = 0, errored: int = 0) -> None:
        """Add counts that were made elsewhere, by a database for one."""
        self.is_kept = True
        self.read += read
        self.processed += processed
        self.filtered += filtered
        self.errored += errored

    def count(self, records: Iterable[RecordT]) -> Iterator[RecordT]:
        """Hand out the records, each counted as processed unless the loop's body says `filter` or `error`."""
        self.is_kept = True
        hand = _Hand()
        self._hands.append(hand)
        for record in records:
            self.read += 1
            hand.fate = "processed"
            yield record
            self._settle(hand.fate)
            hand.fate = ""
        hand.fate = ""
        self._hands.remove(hand)

    def filter(self) -> None:
        """The record in hand is left out on purpose."""
        self._mark("filtered")

    def error(self) -> None:
        """The record in hand could not be processed, and the run goes on without it."""
        self._mark("errored")

    def close(self, *, is_successful: bool) -> None:
        """Settle the records in hand of loops that were left early: errored where the run failed."""
        while self._hands:
            hand = self._hands.pop()
            if hand.fate:
                self._settle(hand.fate if is_successful else "errored")

    @property
    def difference(self) -> int:
        """How many records are unaccounted for; negative where more came out than went in."""
        return self.read - self.processed - self.filtered - self.errored

    def facet(self) -> AccountingLedgerRunFacet:
        """The ledger as the event carries it."""
        return AccountingLedgerRunFacet(self.read, self.processed, self.filtered, self.errored)

    def __str__(self) -> str:
        return (
            f"{self.read} records read, {self.processed} processed + {self.filtered} filtered + "
            f"{self.errored} errored: the difference is {self.difference}"
        )

    def _mark(self, fate: str) -> None:
        if self._hands:
            self._hands[-1].fate = fate
        else:
            self.is_kept = True
            self._settle(fate)

    def _settle(self, fate: str) -> None:
        setattr(self, fate, getattr(self, fate) + 1)
