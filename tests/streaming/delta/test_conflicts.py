"""The second of two writers to a table reads and writes again, and nothing is lost."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from lineproof.schemas.tables import CURATE, TableContract
from lineproof.streaming.delta.conflicts import is_conflict, retry_on_conflict
from lineproof.streaming.delta.definition import create_table
from lineproof.streaming.delta.private_api.optimistic_transaction import OptimisticTransaction
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.transaction import DataFile
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.merge_rules import LATEST, UNION, MergeRules

ITEMS = Table(
    contract=TableContract("items", ("name",), CURATE),
    comment="Items.",
    cluster_by=("name",),
    schema=("name STRING NOT NULL", "size INT", "tags ARRAY<STRING>"),
)
MERGE = MergeRules(("name",), {"size": LATEST, "tags": UNION})


class InterruptedTransaction(OptimisticTransaction):
    """Another writer changes the table just before the first commit."""

    other_write: Callable[[], object]
    commits = 0

    def commit(self, rows: DataFrame, replaced: Sequence[DataFile] = ()) -> None:
        InterruptedTransaction.commits += 1
        if InterruptedTransaction.commits == 1:
            InterruptedTransaction.other_write()
        super().commit(rows, replaced)


@pytest.fixture
def writer(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BatchWriter:
    """A table of two files; the next batch changes `a` and adds `c`."""
    create_table(spark, str(tmp_path / "items"), ITEMS)
    for number, name in enumerate(("a", "b")):
        fold(spark, BatchWriter(spark, str(tmp_path), "tests", number), [(name, 1, ["old"])])
    monkeypatch.setattr("lineproof.streaming.delta.writer.OptimisticTransaction", InterruptedTransaction)
    monkeypatch.setattr(InterruptedTransaction, "commits", 0)
    return BatchWriter(spark, str(tmp_path), "tests", 2)


def fold(spark: SparkSession, writer: BatchWriter, rows: list[tuple[str, int, list[str]]]) -> None:
    def write(new: DataFrame) -> DataFrame:
        return writer.fold(ITEMS, new.select("name"), new, MERGE)

    retry_on_conflict(write)(spark.createDataFrame(rows, ITEMS.struct))


def found(writer: BatchWriter) -> dict[str, tuple[int, list[str]]]:
    return {row.name: (row.size, sorted(row.tags)) for row in writer.read(ITEMS).collect()}


WHOLE = {"a": (2, ["new", "old"]), "b": (1, ["old"]), "c": (2, ["new"])}
CHANGE = [("a", 2, ["new"]), ("c", 2, ["new"])]


def test_a_batch_that_conflicts_with_a_compaction_is_written_again(
    spark: SparkSession, writer: BatchWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = spark.newSession()
    optimize = f"OPTIMIZE delta.`{writer.path(ITEMS)}`"
    monkeypatch.setattr(InterruptedTransaction, "other_write", lambda: other.sql(optimize).collect(), raising=False)
    fold(spark, writer, CHANGE)
    assert found(writer) == WHOLE
    assert InterruptedTransaction.commits == 2, "there was a conflict"


def test_a_row_that_is_deleted_just_before_its_change_is_added_as_new(
    spark: SparkSession, writer: BatchWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same as if it had been deleted before the batch began."""
    other = spark.newSession()
    delete = DeltaTable.forPath(other, writer.path(ITEMS)).delete
    monkeypatch.setattr(InterruptedTransaction, "other_write", lambda: delete("name = 'a'"), raising=False)
    fold(spark, writer, CHANGE)
    expected = {**WHOLE, "a": (2, ["new"])}
    assert found(writer) == expected
    assert InterruptedTransaction.commits == 2, "there was a conflict"
    fold(spark, writer, CHANGE)
    assert found(writer) == expected, "repeated, as after a crash"


def test_other_failures_are_not_retried() -> None:
    assert is_conflict(Exception("io.delta.exceptions.ConcurrentDeleteReadException: [DELTA_CONCURRENT_DELETE_READ]"))
    assert not is_conflict(Exception("[DELTA_CONCURRENT_TRANSACTION] another job of the same checkpoint"))
    attempts: list[int] = []

    def fail(argument: int) -> None:
        attempts.append(argument)
        raise Py4JError("No space left on device")

    with pytest.raises(Py4JError):
        retry_on_conflict(fail)(1)
    assert attempts == [1]
