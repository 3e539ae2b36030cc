"""Tables as Delta keeps them: comments, constraints, clustering, columns that a later release adds, files."""

from dataclasses import replace
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.delta.commit import Commit
from lineproof.streaming.delta.definition import Definition
from lineproof.streaming.delta.store import FEW_ROWS, Range, Store, Table
from lineproof.streaming.stages.merge_rules import LATEST, folded

OLDER = Table(
    name="things",
    comment="Things.",
    key=("name",),
    cluster_by=("name",),
    constraints={"positive": "coalesce(size, 1) > 0"},
    schema=("name STRING NOT NULL COMMENT 'its name'", "size INT", "parts ARRAY<STRUCT<name: STRING>>"),
)
NEWER = replace(
    OLDER,
    schema=(*OLDER.schema[:2], "parts ARRAY<STRUCT<name: STRING, weight: INT>>", "colour STRING COMMENT 'of its skin'"),
)

LARGEST = {"size": LATEST, "parts": LATEST}


def test_a_later_release_adds_columns_without_a_rewrite(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(spark, str(tmp_path))
    store.create(OLDER)
    Store(spark, str(tmp_path), "tests", 0).append(
        OLDER, spark.sql("SELECT 'old' AS name, 1 AS size, array(named_struct('name', 'leg')) AS parts")
    )
    files = set((tmp_path / "things").glob("*.parquet"))
    details = DeltaTable.forPath(spark, store.path(OLDER)).detail().collect()[0]
    assert (details.description, details.clusteringColumns) == ("Things.", ["name"])

    for _ in range(2):
        Definition(spark, store.path(NEWER), NEWER).add_columns()
    new = "SELECT 'new' AS name, 2 AS size, array(named_struct('name', 'arm', 'weight', 7)) AS parts, 'red' AS colour"
    Store(spark, str(tmp_path), "tests", 1).append(NEWER, spark.sql(new))
    assert files <= set((tmp_path / "things").glob("*.parquet"))
    rows = {row.name: row for row in store.read(NEWER).collect()}
    assert (rows["old"].colour, rows["old"].parts[0].weight, rows["new"].parts[0].weight) == (None, None, 7)
    comments = {field.name: field.metadata.get("comment") for field in store.read(NEWER).schema}
    assert (comments["name"], comments["colour"]) == ("its name", "of its skin")
    # Created, appended to, evolved once, appended to.
    assert DeltaTable.forPath(spark, store.path(NEWER)).history().count() == 4


@pytest.mark.parametrize("row", ["CAST(NULL AS STRING) AS name, 1 AS size", "'x' AS name, 0 AS size"])
def test_a_row_that_breaks_a_constraint_is_not_written(spark: SparkSession, tmp_path: Path, row: str) -> None:
    store = Store(spark, str(tmp_path), "tests", 0)
    store.create(OLDER)
    with pytest.raises(Py4JJavaError, match=r"DELTA_(NOT_NULL|VIOLATE)"):
        store.append(OLDER, spark.sql(f"SELECT {row}, CAST(NULL AS ARRAY<STRUCT<name: STRING>>) AS parts"))
    assert store.read(OLDER).count() == 0


def test_a_batch_is_appended_once_by_each_who_writes(spark: SparkSession, tmp_path: Path) -> None:
    def append(app_id: str, number: int) -> list[str]:
        store = Store(spark, str(tmp_path), app_id, number)
        store.append(OLDER, thing(spark, f"{app_id} {number}"))
        return sorted(row.name for row in store.read(OLDER).collect())

    Store(spark, str(tmp_path)).create(OLDER)
    assert append("one", 0) == ["one 0"]
    assert append("one", 0) == ["one 0"]
    assert append("one", 3) == append("one", 2) == ["one 0", "one 3"]
    assert append("other", 2) == ["one 0", "one 3", "other 2"]
    last = DeltaTable.forPath(spark, str(tmp_path / "things")).history(1).collect()[0]
    assert (last.operation, last.operationParameters["queryId"], last.operationParameters["epochId"]) == (
        *("STREAMING UPDATE", "other"),
        "2",
    )

    # Who writes without Spark leaves no checksum file, and one may be lost: the log knows, too.
    for checksum in (tmp_path / "things" / "_delta_log").glob("*.crc"):
        checksum.unlink()
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]
    assert append("one", 3) == append("other", 1) == ["one 0", "one 3", "other 2"]
    assert append("one", 4) == ["one 0", "one 3", "one 4", "other 2"]


def test_who_is_overtaken_with_the_same_batch_does_not_write_it_again(spark: SparkSession, tmp_path: Path) -> None:
    """A driver that was thought dead, say."""
    Store(spark, str(tmp_path)).create(OLDER)
    path = str(tmp_path / "things")
    rows = thing(spark, "a")

    slow, fast = (Commit(spark, path, "tests", 0) for _ in range(2))
    assert not slow.is_made
    assert not fast.is_made
    fast.make(rows)
    with pytest.raises((PySparkException, Py4JJavaError), match="DELTA_CONCURRENT_TRANSACTION"):
        slow.make(rows)
    assert Commit(spark, path, "tests", 0).is_made
    assert spark.read.format("delta").load(path).count() == 1


def test_files_that_cannot_hold_a_row_are_not_among_those_that_may(spark: SparkSession, tmp_path: Path) -> None:
    Store(spark, str(tmp_path)).create(OLDER)
    assert Commit(spark, str(tmp_path / "things"), "tests", 0).files(F.lit(True)) == []
    for number, names in enumerate(("ab", "cd")):
        folded_in(spark, tmp_path, number, dict.fromkeys(names, 1))
    commit = Commit(spark, str(tmp_path / "things"), "tests", 2)
    found = {names: commit.files(Range("name", *names).holds()) for names in ("bb", "bc", "ee")}
    assert {names: len(files) for names, files in found.items()} == {"bb": 1, "bc": 2, "ee": 0}
    assert sorted(row.name for row in commit.read(found["bb"]).collect()) == ["a", "b"]
    assert len(commit.files(F.lit(True))) == 2


def thing(spark: SparkSession, name: str) -> DataFrame:
    return spark.sql(f"SELECT '{name}' AS name, 1 AS size, CAST(NULL AS ARRAY<STRUCT<name: STRING>>) AS parts")


@pytest.mark.parametrize("few", [FEW_ROWS, 0])
def test_only_the_files_of_rows_that_changed_are_rewritten(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("lineproof.streaming.delta.store.FEW_ROWS", few)

    def fold(number: int, sizes: dict[str, int]) -> set[str]:
        return set(folded_in(spark, tmp_path, number, sizes).inputFiles())

    Store(spark, str(tmp_path)).create(OLDER)
    first = fold(0, {"a": 1, "b": 1})
    second = fold(1, {"c": 1, "d": 1})
    assert first < second
    third = fold(2, {"a": 2, "e": 1})
    assert second & third == second - first, "the file of c and d stays, the one of a and b does not"
    assert fold(3, {"a": 1, "b": 1, "c": 1}) == third, "nothing was new"
    assert fold(2, {"a": 9, "f": 9}) == third, "a batch that was written before is not written again"
    sizes = {row.name: row.size for row in Store(spark, str(tmp_path)).read(OLDER).collect()}
    assert sizes == {"a": 2, "b": 1, "c": 1, "d": 1, "e": 1}


def test_what_was_one_file_stays_one(spark: SparkSession, tmp_path: Path) -> None:
    """More files than there are tasks at a time: Spark would read several small ones in one, and write them as one."""
    Store(spark, str(tmp_path)).create(OLDER)
    names = "abcdef"
    for number, name in enumerate(names):
        folded_in(spark, tmp_path, number, {name: 1})
    rows = folded_in(spark, tmp_path, len(names), dict.fromkeys(names, 2))
    assert len(set(rows.inputFiles())) == len(names)


def folded_in(spark: SparkSession, root: Path, number: int, sizes: dict[str, int]) -> DataFrame:
    """The table after a batch."""
    new = spark.createDataFrame([(name, size, None) for name, size in sizes.items()], OLDER.struct)
    store = Store(spark, str(root), "tests", number)
    store.fold(OLDER, new.select("name"), new, lambda rows: folded(rows, ["name"], LARGEST))
    return store.read(OLDER)
