"""The records in quarantine, for the query that leaves them out. They are few, so they are kept in memory."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import reduce
from operator import or_
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.schemas.reasons import Reason
from lineproof.schemas.tables import COORDINATES, CURATE
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.tables import archive, quarantine

Key = tuple[Any, ...]

KEYS: Mapping[str, tuple[str, ...]] = {CURATE: COORDINATES}
"""The columns by which a query knows its records; other queries know events."""
BY_EVENT = ("event_id",)


class Quarantine:
    """The quarantined records of one query, in the table below `root`; those of a live archive are read, too."""

    def __init__(self, spark: SparkSession, query: str, root: str, archive_root: str) -> None:
        self._spark = spark
        self._query = query
        self._tables = TableReader(spark, root)
        self._archive = TableReader(spark, archive_root)
        self.key = KEYS.get(query, BY_EVENT)
        self._errors: dict[Key, str] | None = None

    @property
    def errors(self) -> Mapping[Key, str]:
        """The error of each record. Read once: only this query adds to them."""
        if self._errors is None:
            self._errors = {}
            for tables in {self._tables.path(quarantine.TABLE): self._tables, "": self._archive}.values():
                if tables.exists(quarantine.TABLE):
                    rows = tables.read(quarantine.TABLE).where(F.col("query") == self._query)
                    self._errors |= {tuple(row)[:-1]: row.error for row in rows.select(*self.key, "error").collect()}
        return self._errors

    def add(self, found: Mapping[Key, str]) -> None:
        """Put records into quarantine."""
        now = datetime.now(timezone.utc)
        rows = [
            {"query": self._query, **dict(zip(self.key, key, strict=True)), "error": error, "found_at": now}
            for key, error in found.items()
        ]
        names = quarantine.TABLE.columns
        values = [tuple(row.get(name) for name in names) for row in rows]
        frame = self._spark.createDataFrame(values, quarantine.TABLE.struct)
        frame.write.format("delta").mode("append").save(self._tables.path(quarantine.TABLE))
        self._errors = {**self.errors, **found}

    def leave_out(self, rows: DataFrame) -> DataFrame:
        """The rows of a batch without those in quarantine."""
        return rows.where(~is_one_of(self.key, self.errors)) if self.errors else rows

    def dead_letters(self, batch_keys: Iterable[Key]) -> DataFrame | None:
        """The quarantined records among those of a batch, as dead letters with their bytes; None if there are none."""
        found = {key: self.errors[key] for key in batch_keys if key in self.errors}
        if not found:
            return None
        errors = self._spark.createDataFrame(
            [(*key, error) for key, error in found.items()], "topic STRING, partition INT, offset BIGINT, error STRING"
        )
        records = self._archive.read(archive.TABLE).where(is_one_of(COORDINATES, found))
        return records.join(F.broadcast(errors), list(COORDINATES)).select(
            *COORDINATES,
            "timestamp",
            F.lit(Reason.CANNOT_BE_PROCESSED.value).alias("reason"),
            *("error", "key", "headers", "value"),
        )


def is_one_of(key: Sequence[str], keys: Iterable[Key]) -> Column:
    """Whether a row has one of these keys. A comparison for each key: there are few, and files are skipped by it."""
    *leading, last = key
    by_leading: dict[Key, list[Any]] = {}
    for values in keys:
        by_leading.setdefault(values[:-1], []).append(values[-1])
    return reduce(
        or_, (_same(leading, values) & F.col(last).isin(found) for values, found in by_leading.items()), F.lit(False)
    )


def between(key: Sequence[str], runs: Iterable[tuple[Key, Key]]) -> Column:
    """Whether a row's key lies in one of the ranges. Both ends of a range differ in the last column only."""
    *leading, last = key
    conditions = (_same(leading, first[:-1]) & F.col(last).between(first[-1], end[-1]) for first, end in runs)
    return reduce(or_, conditions, F.lit(False))


def _same(names: Sequence[str], values: Key) -> Column:
    return reduce(lambda all_, pair: all_ & (F.col(pair[0]) == pair[1]), zip(names, values, strict=True), F.lit(True))
