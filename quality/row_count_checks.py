"""The books of the tables: what came in must equal what came out, table by table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Account:
    """Two figures that must be equal."""

    name: str
    left: str
    right: str


ACCOUNTS = (
    Account(
        "archived records = rows of records",
        "SELECT count(*) FROM archive",
        "SELECT count(*) FROM records",
    ),
    Account(
        "archived records = usable + dead letters",
        "SELECT count(*) FROM archive",
        "SELECT (SELECT count(*) FROM records WHERE reason IS NULL) + (SELECT count(*) FROM dead_letters)",
    ),
    Account(
        "distinct events that came = rows of lineage_events",
        "SELECT count(DISTINCT event_id) FROM records WHERE reason IS NULL",
        "SELECT count(*) FROM lineage_events",
    ),
    Account(
        "distinct runs that came = rows of runs",
        "SELECT count(DISTINCT run_id) FROM records WHERE reason IS NULL",
        "SELECT count(*) FROM runs",
    ),
)


@dataclass(frozen=True)
class Entry:
    """An account with its two figures."""

    name: str
    left: int
    right: int

    @property
    def balances(self) -> bool:
        """Whether nothing is missing and nothing is there twice."""
        return self.left == self.right


def entries(scalar: Callable[[str], Any]) -> list[Entry]:
    """Look up every account; `scalar` answers a query that has one value."""
    return [Entry(account.name, scalar(account.left), scalar(account.right)) for account in ACCOUNTS]
