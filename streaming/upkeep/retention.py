"""Rows that are older than they are to be kept.

They are deleted when the job's queries have read what was there when they were found.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone

from pyspark.sql import SparkSession

from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.tables import lineage_events, runs

READ_BY_GRAPH = (lineage_events.TABLE, runs.TABLE)
"""Tables that graph reads: their rows are not deleted before it has."""

Days = Mapping[str, int | None]
"""For how many days rows are kept, by the setting of that name; None for ever."""


@dataclass(frozen=True)
class Old:
    """Rows of a table that are too old."""

    table: Table
    before: date
    rows: int

    @property
    def condition(self) -> str:
        """Which rows they are."""
        return f"{self.table.kept_by} < DATE '{self.before}'"


def first_day(table: Table, days: Days, now: datetime) -> date | None:
    """The first day, in UTC, of which a table's rows are kept; None if all are."""
    kept = days.get(table.kept_as or table.name) if table.kept_by else None
    return None if kept is None else now.astimezone(timezone.utc).date() - timedelta(days=kept)


def find_old(store: Store, table: Table, before: date) -> Old:
    """Look for rows that are too old."""
    condition = Old(table, before, 0).condition
    return Old(table, before, store.read(table).where(condition).count())


def delete_old(spark: SparkSession, store: Store, old: Old) -> int:
    """Delete them; return how many."""
    # By SQL, because Python's own DELETE tells no number.
    [(deleted,)] = spark.sql(f"DELETE FROM delta.`{store.path(old.table)}` WHERE {old.condition}").collect()  # noqa: S608
    return int(deleted)
