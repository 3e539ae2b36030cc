"""The accounting ledger of a run: input = processed + filtered + errored."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from lineproof.producers.facets import AccountingLedgerRunFacet

RecordT = TypeVar("RecordT")


@dataclass
class _CurrentRecord:
    """The record that a loop is processing. `category` is the count it goes to."""

    category: str = "processed"


@dataclass
class Ledger:
    """Accounts for every record that a run reads. Use `count` in a loop, or `book` to add counts."""

    read: int = 0
    processed: int = 0
    filtered: int = 0
    errored: int = 0
    is_kept: bool = False
    _current: list[_CurrentRecord] = field(default_factory=list)

    def book(self, *, read: int, processed: int, filtered: int = 0, errored: int = 0) -> None:
        """Add counts from elsewhere, for example from a database."""
        self.is_kept = True
        self.read += read
        self.processed += processed
        self.filtered += filtered
        self.errored += errored

    def count(self, records: Iterable[RecordT]) -> Iterator[RecordT]:
        """Iterate over records. Each counts as processed, unless the loop body calls `filter` or `error`."""
        self.is_kept = True
        current = _CurrentRecord()
        self._current.append(current)
        for record in records:
            self.read += 1
            current.category = "processed"
            yield record
            self._add(current.category)
            current.category = ""
        current.category = ""
        self._current.remove(current)

    def filter(self) -> None:
        """Count the current record as filtered: left out on purpose."""
        self._mark("filtered")

    def error(self) -> None:
        """Count the current record as errored: the run continues without it."""
        self._mark("errored")

    def close(self, *, is_successful: bool) -> None:
        """Count the current records of loops that were left early: as errored if the run failed."""
        while self._current:
            current = self._current.pop()
            if current.category:
                self._add(current.category if is_successful else "errored")

    @property
    def difference(self) -> int:
        """The number of records that are not accounted for; negative if more came out than went in."""
        return self.read - self.processed - self.filtered - self.errored

    def facet(self) -> AccountingLedgerRunFacet:
        """The ledger as a run facet."""
        return AccountingLedgerRunFacet(self.read, self.processed, self.filtered, self.errored)

    def __str__(self) -> str:
        return (
            f"{self.read} records read, {self.processed} processed + {self.filtered} filtered + "
            f"{self.errored} errored: the difference is {self.difference}"
        )

    def _mark(self, category: str) -> None:
        if self._current:
            self._current[-1].category = category
        else:
            self.is_kept = True
            self._add(category)

    def _add(self, category: str) -> None:
        setattr(self, category, getattr(self, category) + 1)
