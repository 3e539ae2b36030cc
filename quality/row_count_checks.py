"""Reconcile the tables: the number of rows that came in equals the number that came out, table by table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RowCountCheck:
    """Two queries whose counts must be equal."""

    name: str
    left: str
    right: str


CHECKS = (
    RowCountCheck(
        "archived records = rows of records",
        "SELECT count(*) FROM archive",
        "SELECT count(*) FROM records",
    ),
    RowCountCheck(
        "archived records = usable + dead letters",
        "SELECT count(*) FROM archive",
        "SELECT (SELECT count(*) FROM records WHERE reason IS NULL) + (SELECT count(*) FROM dead_letters)",
    ),
    RowCountCheck(
        "distinct events received = rows of lineage_events",
        "SELECT count(DISTINCT event_id) FROM records WHERE reason IS NULL",
        "SELECT count(*) FROM lineage_events",
    ),
    RowCountCheck(
        "distinct runs received = rows of runs",
        "SELECT count(DISTINCT run_id) FROM records WHERE reason IS NULL",
        "SELECT count(*) FROM runs",
    ),
)


@dataclass(frozen=True)
class RowCounts:
    """The two counts of a check."""

    name: str
    left: int
    right: int

    @property
    def are_equal(self) -> bool:
        """Whether no row is missing and no row is there twice."""
        return self.left == self.right


def count_rows(scalar: Callable[[str], Any]) -> list[RowCounts]:
    """Run every check; `scalar` runs a query and returns its single value."""
    return [RowCounts(check.name, scalar(check.left), scalar(check.right)) for check in CHECKS]
