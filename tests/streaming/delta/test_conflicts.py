"""Who is second to write to a table looks again, and nothing is lost (R54, R50)."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from lineproof.streaming.delta.commit import Commit, File
from lineproof.streaming.delta.conflicts import again_on_conflict, is_conflict
from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.stages.merge_rules import LATEST, UNION, Rule, folded

THINGS = Table(
    name="things",
    comment="Things.",
    key=("name",),
    cluster_by=("name",),
    schema=("name STRING NOT NULL", "size INT", "tags ARRAY<STRING>"),
)
RULES: dict[str, Rule] = {"size": LATEST, "tags": UNION}


class Struck(Commit):
    """Something happens to the table before the commit is made for the first time."""

    strike: Callable[[], object]
    tries = 0

    def make(self, rows: DataFrame, instead_of: Sequence[File] = ()) -> None:
        Struck.tries += 1
        if Struck.tries == 1:
            Struck.strike()
        super().make(rows, instead_of)


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A table of two files; the next batch changes `a`, and has `c` anew."""
    Store(spark, str(tmp_path)).create(THINGS)
    for number, name in enumerate(("a", "b")):
        fold(spark, Store(spark, str(tmp_path), "tests", number), [(name, 1, ["old"])])
    monkeypatch.setattr("lineproof.streaming.delta.store.Commit", Struck)
    monkeypatch.setattr(Struck, "tries", 0)
    return Store(spark, str(tmp_path), "tests", 2)


def fold(spark: SparkSession, store: Store, rows: list[tuple[str, int, list[str]]]) -> None:
    new = spark.createDataFrame(rows, THINGS.struct)

    def act(one: DataFrame) -> DataFrame:
        return store.fold(THINGS, one.select("name"), one, lambda rows: folded(rows, ["name"], RULES))

    again_on_conflict(act)(new)


def found(store: Store) -> dict[str, tuple[int, list[str]]]:
    return {row.name: (row.size, sorted(row.tags)) for row in store.read(THINGS).collect()}


WHOLE = {"a": (2, ["new", "old"]), "b": (1, ["old"]), "c": (2, ["new"])}
CHANGE = [("a", 2, ["new"]), ("c", 2, ["new"])]


def test_a_batch_that_meets_a_compaction_is_done_again(
    spark: SparkSession, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = spark.newSession()
    optimize = f"OPTIMIZE delta.`{store.path(THINGS)}`"
    monkeypatch.setattr(Struck, "strike", lambda: beside.sql(optimize).collect(), raising=False)
    fold(spark, store, CHANGE)
    assert found(store) == WHOLE
    assert Struck.tries == 2, "there was a conflict"


def test_a_row_deleted_just_before_it_would_have_changed_is_there_anew(
    spark: SparkSession, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it would be if it had been deleted before the batch began."""
    beside = spark.newSession()
    delete = DeltaTable.forPath(beside, store.path(THINGS)).delete
    monkeypatch.setattr(Struck, "strike", lambda: delete("name = 'a'"), raising=False)
    fold(spark, store, CHANGE)
    anew = {**WHOLE, "a": (2, ["new"])}
    assert found(store) == anew
    assert Struck.tries == 2, "there was a conflict"
    fold(spark, store, CHANGE)
    assert found(store) == anew, "repeated, as after a crash"


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
