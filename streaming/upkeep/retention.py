"""Find and delete rows that are older than their retention.

Rows are deleted only after the job's queries have read everything that was there when they were found.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.tables import archive, lineage_events, runs

READ_BY_GRAPH = (lineage_events.TABLE, runs.TABLE)
"""Tables that the graph query reads: it must have read a row before the row is deleted."""

Days = Mapping[str, int | None]
"""The retention in days, by the name of the setting; None keeps rows for ever."""


@dataclass(frozen=True)
class ExpiredRows:
    """The rows of a table from before a day."""

    table: Table
    before: date
    condition: str
    """The SQL condition that selects them."""
    count: int


def first_day(table: Table, days: Days, now: datetime) -> date | None:
    """The first day, in UTC, whose rows are kept; None if all rows are."""
    kept = days.get(table.retention_setting or table.name) if table.retention_column else None
    return None if kept is None else now.astimezone(timezone.utc).date() - timedelta(days=kept)


def find_expired(tables: TableReader, table: Table, before: date) -> ExpiredRows:
    """Count the rows from before a day."""
    condition = f"{table.retention_column} < DATE '{before}'"
    if table.retention_setting == archive.TABLE.name and tables.exists(archive.TABLE):
        condition = _archived_before(tables, before)
    return ExpiredRows(table, before, condition, tables.read(table).where(condition).count())


def _archived_before(tables: TableReader, before: date) -> str:
    """The records that the archive deletes: by the day of archiving, which their other tables do not have.

    The timestamp of a record may be any number. In each partition, the first offsets are archived first.
    """
    is_kept = F.col("day") >= F.lit(before)
    partitions = tables.read(archive.TABLE).groupBy("topic", "partition")
    ranges = partitions.agg(F.max(F.when(~is_kept, F.col("offset"))), F.min(F.when(is_kept, F.col("offset"))))
    conditions = (
        f"topic = '{topic}' AND partition = {partition} AND offset < {last + 1 if kept is None else kept}"
        for topic, partition, last, kept in ranges.collect()
        if last is not None
    )
    return " OR ".join(f"({condition})" for condition in conditions) or "false"


def delete_expired(spark: SparkSession, tables: TableReader, expired: ExpiredRows) -> int:
    """Delete the rows; return how many."""
    path = tables.path(expired.table)
    # SQL, because `DeltaTable.delete` does not return the number of deleted rows.
    [(deleted,)] = spark.sql(f"DELETE FROM delta.`{path}` WHERE {expired.condition}").collect()  # noqa: S608
    return int(deleted)
