"""Find and delete rows that are older than their retention.

Rows are deleted only after the job's queries have read everything that was there when they were found.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone

from pyspark.sql import SparkSession

from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.tables import lineage_events, runs

READ_BY_GRAPH = (lineage_events.TABLE, runs.TABLE)
"""Tables that the graph query reads: it must have read a row before the row is deleted."""

Days = Mapping[str, int | None]
"""The retention in days, by the name of the setting; None keeps rows for ever."""


@dataclass(frozen=True)
class ExpiredRows:
    """The rows of a table from before a day."""

    table: Table
    before: date
    count: int

    @property
    def condition(self) -> str:
        """The SQL condition that selects them."""
        return f"{self.table.retention_column} < DATE '{self.before}'"


def first_day(table: Table, days: Days, now: datetime) -> date | None:
    """The first day, in UTC, whose rows are kept; None if all rows are."""
    kept = days.get(table.retention_setting or table.name) if table.retention_column else None
    return None if kept is None else now.astimezone(timezone.utc).date() - timedelta(days=kept)


def find_expired(tables: TableReader, table: Table, before: date) -> ExpiredRows:
    """Count the rows from before a day."""
    condition = ExpiredRows(table, before, 0).condition
    return ExpiredRows(table, before, tables.read(table).where(condition).count())


def delete_expired(spark: SparkSession, tables: TableReader, expired: ExpiredRows) -> int:
    """Delete the rows; return how many."""
    path = tables.path(expired.table)
    # SQL, because `DeltaTable.delete` does not return the number of deleted rows.
    [(deleted,)] = spark.sql(f"DELETE FROM delta.`{path}` WHERE {expired.condition}").collect()  # noqa: S608
    return int(deleted)
