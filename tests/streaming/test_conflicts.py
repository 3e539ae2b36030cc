"""Who is second to write to a table looks again, and nothing is lost (R54, R50)."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from lineproof.streaming.conflicts import again_on_conflict, is_conflict
from lineproof.streaming.lattice import LATEST, UNION, folded
from lineproof.streaming.store import Store, Table

THINGS = Table(
    name="things",
    comment="Things.",
    key=("name",),
    cluster_by=("name",),
    schema=("name STRING NOT NULL", "size INT", "tags ARRAY<STRING>"),
)
SLEEP = "coalesce(java_method('java.lang.Thread', 'sleep', 4000L + length(name)), '') = ''"


class Struck(Store):
    """Something happens to the table while rows are merged into it, the first time."""

    strike: Callable[[], None]
    tries = 0
    is_amid = False

    def _update(self, table: Table, rows: DataFrame, within: Any) -> None:
        self.tries += 1
        if self.tries > 1:
            super()._update(table, rows, within)
        elif self.is_amid:
            other = threading.Timer(1.5, self.strike)
            other.start()
            try:
                super()._update(table, rows.where(SLEEP), within)
            finally:
                other.join()
        else:
            self.strike()
            super()._update(table, rows, within)


@pytest.fixture
def struck(spark: SparkSession, tmp_path: Path) -> Struck:
    """A table of two files; the next batch changes `a`, and has `c` anew."""
    Store(spark, str(tmp_path)).create(THINGS)
    for number, name in enumerate(("a", "b")):
        fold(spark, Store(spark, str(tmp_path), "tests", number), [(name, 1, ["old"])])
    return Struck(spark, str(tmp_path), "tests", 2)


def fold(spark: SparkSession, store: Store, rows: list[tuple[str, int, list[str]]]) -> None:
    new = spark.createDataFrame(rows, THINGS.struct)
    with store.transaction():
        store.fold(
            THINGS,
            new.select("name"),
            new,
            lambda one: folded(one, ["name"], {"size": LATEST, "tags": UNION}),
        )


def found(store: Store) -> dict[str, tuple[int, list[str]]]:
    return {row.name: (row.size, sorted(row.tags)) for row in store.read(THINGS).collect()}


WHOLE = {"a": (2, ["new", "old"]), "b": (1, ["old"]), "c": (2, ["new"])}
CHANGE = [("a", 2, ["new"]), ("c", 2, ["new"])]


def test_a_merge_that_meets_a_compaction_is_done_again(spark: SparkSession, struck: Struck) -> None:
    beside = spark.newSession()
    struck.is_amid = True
    struck.strike = lambda: beside.sql(f"OPTIMIZE delta.`{struck.path(THINGS)}`").collect()  # type: ignore[assignment]

    def change(store: Store) -> None:
        fold(spark, store, CHANGE)

    again_on_conflict(change)(struck)
    assert found(struck) == WHOLE
    assert struck.tries == 2, "there was a conflict"


def test_a_row_deleted_just_before_it_would_have_changed_is_there_whole(spark: SparkSession, struck: Struck) -> None:
    """It was too old; with what the batch has of it, it no longer is."""
    beside = spark.newSession()
    struck.strike = lambda: DeltaTable.forPath(beside, struck.path(THINGS)).delete("name = 'a'")
    fold(spark, struck, CHANGE)
    assert found(struck) == WHOLE
    fold(spark, Store(spark, str(Path(struck.path(THINGS)).parent), "tests", 2), CHANGE)
    assert found(struck) == WHOLE, "repeated, as after a crash"


def test_other_failures_are_not_tried_again() -> None:
    assert is_conflict(Exception("io.delta.exceptions.ConcurrentDeleteReadException: [DELTA_CONCURRENT_DELETE_READ]"))
    assert not is_conflict(Exception("[DELTA_CONCURRENT_TRANSACTION] another job of the same checkpoint"))
    tried: list[int] = []

    def fail(one: int) -> None:
        tried.append(one)
        raise Py4JError("No space left on device")

    with pytest.raises(Py4JError):
        again_on_conflict(fail)(1)
    assert tried == [1]
