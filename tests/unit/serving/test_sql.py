"""SQL over Delta tables, without Spark."""

from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema, write_deltalake

from lineproof.serving.delta_reader import UnreadableTable
from lineproof.serving.sql import QueryError, Result, Tables


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    event = '{"run": {"facets": {"mine": {"deep": [1, 2]}}}}'
    write_deltalake(tmp_path / "lineage_events", pa.table({"event": [event], "n": [1]}), description="Events.")
    return Tables(str(tmp_path))


def test_facets_can_be_reached(tables: Tables) -> None:
    result = tables.query("SELECT event->>'$.run.facets.mine.deep[1]' AS two, n FROM lineage_events WHERE n = ?", 1)
    assert (result.columns, result.rows) == (["two", "n"], [("2", 1)])


def test_overview(tables: Tables) -> None:
    columns, [row] = tables.overview()
    assert dict(zip(columns, row, strict=True)) | {"bytes": 0, "path": ""} == {
        "table": "lineage_events",
        "rows": 1,
        "files": 1,
        "bytes": 0,
        "version": 0,
        "path": "",
        "comment": "Events.",
    }


def test_errors_name_the_tables(tables: Tables) -> None:
    with pytest.raises(QueryError, match=r"(?s)lineage_event.*The tables are lineage_events"):
        tables.query("SELECT * FROM lineage_event")


def test_no_tables_yet(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="lineproof demo"):
        Tables(str(tmp_path / "nowhere")).query("SELECT 1")


def test_tables_elsewhere_are_not_called_missing() -> None:
    with pytest.raises(UnreadableTable, match="not on this machine"):
        Tables("s3a://bucket/tables").query("SELECT 1")


def test_columns_that_came_later_are_null_in_older_rows(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", pa.table({"n": [1], "s": pa.array([{"a": 1}])}))
    later = pa.table({"n": [2], "s": pa.array([{"a": 2, "b": "x"}]), "more": ["new"]})
    write_deltalake(tmp_path / "t", later, mode="append", schema_mode="merge")
    result = Tables(str(tmp_path)).query("SELECT * FROM t ORDER BY n")
    assert result.columns == ["n", "s", "more"]
    assert result.rows == [(1, {"a": 1, "b": None}, None), (2, {"a": 2, "b": "x"}, "new")]


def test_a_table_without_rows(tmp_path: Path) -> None:
    schema = pa.schema({"n": pa.int64(), "at": pa.timestamp("us", "UTC")})
    DeltaTable.create(tmp_path / "t", Schema.from_arrow(schema))
    assert Tables(str(tmp_path)).query("SELECT * FROM t") == Result(["n", "at"], [])


def test_partitions_keep_their_type_and_place(tmp_path: Path) -> None:
    day = date(2026, 11, 18)
    rows = pa.table({"day": [day, None], "word": ["a/b", "c=d %"], "n": [1, 2]})
    write_deltalake(tmp_path / "t", rows, partition_by=["day", "word"])
    tables = Tables(str(tmp_path))
    assert tables.query("SELECT * FROM t ORDER BY n").rows == [(day, "a/b", 1), (None, "c=d %", 2)]
    assert tables.query("SELECT n FROM t WHERE day = ?", day).rows == [(1,)]


def test_directories_may_have_any_name(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "it's a day=1" / "t", pa.table({"n": [1]}))
    assert Tables(str(tmp_path / "it's a day=1")).query("SELECT * FROM t") == Result(["n"], [(1,)])


def test_tables_with_deletion_vectors_are_refused(tmp_path: Path) -> None:
    schema = Schema.from_arrow(pa.schema({"n": pa.int64()}))
    DeltaTable.create(tmp_path / "t", schema, configuration={"delta.enableDeletionVectors": "true"})
    with pytest.raises(UnreadableTable, match=r"(?s)The table t .*deletionVectors.*Use Spark SQL"):
        Tables(str(tmp_path)).query("SELECT * FROM t")
