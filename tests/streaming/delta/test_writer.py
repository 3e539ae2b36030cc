"""Tables as Delta keeps them: comments, constraints, clustering, columns that a later release adds, files."""

from dataclasses import replace
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.schemas.tables import CURATE, TableContract
from lineproof.streaming.delta.definition import Definition, create_table
from lineproof.streaming.delta.fold import MAX_BROADCAST_ROWS
from lineproof.streaming.delta.key_ranges import text_ranges
from lineproof.streaming.delta.private_api.optimistic_transaction import OptimisticTransaction
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.parallel import in_parallel
from lineproof.streaming.stages.merge_rules import LATEST, MergeRules

OLDER = Table(
    contract=TableContract("items", ("name",), CURATE),
    comment="Items.",
    cluster_by=("name",),
    constraints={"positive": "coalesce(size, 1) > 0"},
    schema=("name STRING NOT NULL COMMENT 'its name'", "size INT", "parts ARRAY<STRUCT<name: STRING>>"),
)
NEWER = replace(
    OLDER,
    schema=(*OLDER.schema[:2], "parts ARRAY<STRUCT<name: STRING, weight: INT>>", "colour STRING COMMENT 'of its skin'"),
)

LARGEST = MergeRules(("name",), {"size": LATEST, "parts": LATEST})


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> str:
    """An empty table."""
    path = str(tmp_path / "items")
    create_table(spark, path, OLDER)
    return path


def test_a_later_release_adds_columns_without_a_rewrite(spark: SparkSession, tmp_path: Path, path: str) -> None:
    BatchWriter(spark, str(tmp_path), "tests", 0).append(
        OLDER, spark.sql("SELECT 'old' AS name, 1 AS size, array(named_struct('name', 'leg')) AS parts")
    )
    files = set((tmp_path / "items").glob("*.parquet"))
    details = DeltaTable.forPath(spark, path).detail().collect()[0]
    assert (details.description, details.clusteringColumns) == ("Items.", ["name"])

    for _ in range(2):
        Definition(spark, path, NEWER).add_columns()
    new = "SELECT 'new' AS name, 2 AS size, array(named_struct('name', 'arm', 'weight', 7)) AS parts, 'red' AS colour"
    BatchWriter(spark, str(tmp_path), "tests", 1).append(NEWER, spark.sql(new))
    assert files <= set((tmp_path / "items").glob("*.parquet"))
    table = TableReader(spark, str(tmp_path)).read(NEWER)
    rows = {row.name: row for row in table.collect()}
    assert (rows["old"].colour, rows["old"].parts[0].weight, rows["new"].parts[0].weight) == (None, None, 7)
    comments = {field.name: field.metadata.get("comment") for field in table.schema}
    assert (comments["name"], comments["colour"]) == ("its name", "of its skin")
    # Created, appended to, evolved once, appended to.
    assert DeltaTable.forPath(spark, path).history().count() == 4


@pytest.mark.parametrize("row", ["CAST(NULL AS STRING) AS name, 1 AS size", "'x' AS name, 0 AS size"])
def test_a_row_that_breaks_a_constraint_is_not_written(
    spark: SparkSession, tmp_path: Path, path: str, row: str
) -> None:
    writer = BatchWriter(spark, str(tmp_path), "tests", 0)
    with pytest.raises(Py4JJavaError, match=r"DELTA_(NOT_NULL|VIOLATE)"):
        writer.append(OLDER, spark.sql(f"SELECT {row}, CAST(NULL AS ARRAY<STRUCT<name: STRING>>) AS parts"))
    assert spark.read.format("delta").load(path).count() == 0


@pytest.mark.parametrize(("app_id", "number"), [("", 0), ("tests", -1)])
def test_a_writer_needs_an_application_id_and_a_batch_number(spark: SparkSession, app_id: str, number: int) -> None:
    """Delta would count a batch without them as already written, and skip it in silence."""
    with pytest.raises(ValueError, match="application id"):
        BatchWriter(spark, "tables", app_id, number)


def test_each_application_appends_a_batch_once(spark: SparkSession, tmp_path: Path, path: str) -> None:
    def append(app_id: str, number: int) -> list[str]:
        writer = BatchWriter(spark, str(tmp_path), app_id, number)
        writer.append(OLDER, item(spark, f"{app_id} {number}"))
        return sorted(row.name for row in writer.read(OLDER).collect())

    assert append("one", 0) == ["one 0"]
    assert append("one", 0) == ["one 0"]
    assert append("one", 3) == append("one", 2) == ["one 0", "one 3"]
    assert append("other", 2) == ["one 0", "one 3", "other 2"]
    last = DeltaTable.forPath(spark, path).history(1).collect()[0]
    assert (last.operation, last.operationParameters["queryId"], last.operationParameters["epochId"]) == (
        *("STREAMING UPDATE", "other"),
        "2",
    )

    # Writers other than Spark leave no checksum file, and a checksum file may be lost: the log has the ids as well.
    for checksum in (tmp_path / "items" / "_delta_log").glob("*.crc"):
        checksum.unlink()
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]
    assert append("one", 3) == append("other", 1) == ["one 0", "one 3", "other 2"]
    assert append("one", 4) == ["one 0", "one 3", "one 4", "other 2"]


def test_the_slower_of_two_writers_of_the_same_batch_fails(spark: SparkSession, path: str) -> None:
    """For example, a driver that was thought to be dead."""
    rows = item(spark, "a")
    slow, fast = (OptimisticTransaction(spark, path, "tests", 0) for _ in range(2))
    assert not slow.is_written
    assert not fast.is_written
    fast.commit(rows)
    with pytest.raises((PySparkException, Py4JJavaError), match="DELTA_CONCURRENT_TRANSACTION"):
        slow.commit(rows)
    assert OptimisticTransaction(spark, path, "tests", 0).is_written
    assert spark.read.format("delta").load(path).count() == 1


def test_files_that_cannot_hold_a_row_are_not_read(spark: SparkSession, tmp_path: Path, path: str) -> None:
    assert OptimisticTransaction(spark, path, "tests", 0).files_matching(F.lit(True)) == []
    for number, names in enumerate(("ab", "cd")):
        table_after_fold(spark, tmp_path, number, dict.fromkeys(names, 1))
    transaction = OptimisticTransaction(spark, path, "tests", 2)
    found = {
        names: transaction.files_matching(text_ranges("name", names).condition()) for names in ("b", "bc", "ad", "e")
    }
    assert {names: len(files) for names, files in found.items()} == {"b": 1, "bc": 2, "ad": 2, "e": 0}
    assert sorted(row.name for row in transaction.read_files(found["b"]).collect()) == ["a", "b"]
    assert len(transaction.files_matching(F.lit(True))) == 2


def item(spark: SparkSession, name: str) -> DataFrame:
    return spark.sql(f"SELECT '{name}' AS name, 1 AS size, CAST(NULL AS ARRAY<STRUCT<name: STRING>>) AS parts")


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("max_broadcast_rows", [MAX_BROADCAST_ROWS, 0])
def test_only_the_files_of_rows_that_changed_are_rewritten(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_broadcast_rows: int
) -> None:
    monkeypatch.setattr("lineproof.streaming.delta.fold.MAX_BROADCAST_ROWS", max_broadcast_rows)

    def fold(number: int, sizes: dict[str, int]) -> set[str]:
        return set(table_after_fold(spark, tmp_path, number, sizes).inputFiles())

    first = fold(0, {"a": 1, "b": 1})
    second = fold(1, {"c": 1, "d": 1})
    assert first < second
    third = fold(2, {"a": 2, "e": 1})
    assert second & third == second - first, "the file of c and d stays, the one of a and b does not"
    assert fold(3, {"a": 1, "b": 1, "c": 1}) == third, "nothing was new"
    assert fold(2, {"a": 9, "f": 9}) == third, "a batch that was written before is not written again"
    sizes = {row.name: row.size for row in TableReader(spark, str(tmp_path)).read(OLDER).collect()}
    assert sizes == {"a": 2, "b": 1, "c": 1, "d": 1, "e": 1}


@pytest.mark.usefixtures("path")
def test_a_rewritten_file_stays_one_file(spark: SparkSession, tmp_path: Path) -> None:
    """With more files than parallel tasks, Spark would read several small ones in one task, and write them as one."""
    names = "abcdef"
    for number, name in enumerate(names):
        table_after_fold(spark, tmp_path, number, {name: 1})
    rows = table_after_fold(spark, tmp_path, len(names), dict.fromkeys(names, 2))
    assert len(set(rows.inputFiles())) == len(names)


@pytest.mark.usefixtures("path")
def test_a_fold_returns_the_rows_of_its_keys_with_the_columns_of_the_table(spark: SparkSession, tmp_path: Path) -> None:
    """In an empty table, in a table with such rows, and for a batch that was written before."""
    for number, sizes in ((0, {"a": 1, "b": 1}), (1, {"a": 2, "c": 1}), (1, {"a": 2, "c": 1})):
        rows = fold(BatchWriter(spark, str(tmp_path), "tests", number), spark, sizes)
        assert tuple(rows.columns) == OLDER.columns
        assert {row.name: row.size for row in rows.collect()} == sizes


def table_after_fold(spark: SparkSession, root: Path, number: int, sizes: dict[str, int]) -> DataFrame:
    writer = BatchWriter(spark, str(root), "tests", number)
    fold(writer, spark, sizes)
    return writer.read(OLDER)


def fold(writer: BatchWriter, spark: SparkSession, sizes: dict[str, int]) -> DataFrame:
    new = spark.createDataFrame([(name, size, None) for name, size in sizes.items()], OLDER.struct)
    return writer.fold(OLDER, new.select("name"), new, LARGEST)


def test_rows_of_a_fold_belong_to_the_session_of_the_batch(spark: SparkSession, tmp_path: Path, path: str) -> None:
    """A batch has its own session, and folds in other threads. The view over its rows is in its own session."""
    session = spark.newSession()
    rows = session.sql("SELECT 'a' AS name, 1 AS size, CAST(NULL AS ARRAY<STRUCT<name: STRING>>) AS parts")
    BatchWriter(session, str(tmp_path), "tests", 0).append(OLDER, rows)

    def fold(size: int) -> DataFrame:
        new = rows.withColumn("size", F.lit(size))
        return BatchWriter(session, str(tmp_path), "tests", size).fold(OLDER, new.select("name"), new, LARGEST)

    [folded] = in_parallel(session, fold, [2])
    assert [row["size"] for row in session.sql("SELECT * FROM {folded}", folded=folded).select("size").collect()] == [2]


def test_a_replacement_rewrites_only_files_whose_rows_differ(spark: SparkSession, tmp_path: Path) -> None:
    pairs = Table(
        contract=TableContract("pairs", ("name",), CURATE),
        comment="Pairs.",
        cluster_by=("name",),
        schema=("name STRING NOT NULL", "other STRING NOT NULL"),
    )
    path = str(tmp_path / "pairs")
    create_table(spark, path, pairs)

    def put(number: int, **others: str) -> tuple[dict[str, str], set[str], int]:
        rows = spark.createDataFrame([*others.items()], pairs.struct).coalesce(1)
        BatchWriter(spark, str(tmp_path), "tests", number).replace(pairs, rows)
        table = spark.read.format("delta").load(path)
        versions = DeltaTable.forPath(spark, path).history().count()
        return {row.name: row.other for row in table.collect()}, {*table.inputFiles()}, versions

    first = put(0, a="1", b="2")
    assert first[0] == {"a": "1", "b": "2"}
    assert put(1, b="2", a="1") == first, "nothing is committed if nothing differs"
    found, more, _ = put(2, a="1", b="2", c="3")
    assert (found, first[1] < more) == ({"a": "1", "b": "2", "c": "3"}, True)
    found, files, _ = put(3, a="1", b="2", c="4")
    assert (found, first[1] < files, more & files) == ({"a": "1", "b": "2", "c": "4"}, True, first[1])
    assert put(4, c="4")[0] == {"c": "4"}, "rows that should not be there are removed"
    assert put(4, a="9")[0] == {"c": "4"}, "a batch is written once"
