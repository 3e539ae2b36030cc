"""SQL over Delta tables, without Spark (R4)."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from lineproof.sql import QueryError, Tables


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
    with pytest.raises(QueryError, match="not on this machine"):
        Tables("s3a://bucket/tables").query("SELECT 1")
