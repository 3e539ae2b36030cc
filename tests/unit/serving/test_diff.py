"""Compare two sets of tables."""

import json
import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from typer.testing import CliRunner

from lineproof.cli.main import app
from lineproof.schemas.errors import TableNotFound
from lineproof.serving.delta_reader import UnreadableTable
from lineproof.serving.diff import TableDiff, diff

TIME = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
RUNS = pa.schema(
    [
        *(("run_id", pa.string()), ("state", pa.string()), ("started_at", pa.timestamp("us", "UTC"))),
        ("inputs", pa.list_(pa.struct([("namespace", pa.string()), ("name", pa.string())]))),
    ]
)
LETTERS = pa.schema([("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("value", pa.binary())])


def run(number: int, **columns: Any) -> dict[str, Any]:
    source = {"namespace": "db", "name": 'quo"te'}
    return {"run_id": f"run-{number}", "state": "COMPLETED", "started_at": TIME, "inputs": [source], **columns}


def write(root: Path, rows: list[dict[str, Any]]) -> None:
    write_deltalake(root / "runs", pa.Table.from_pylist(rows, RUNS), mode="append")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "here", [run(number) for number in range(10)])
    letters = [{"topic": "t", "partition": 0, "offset": n, "value": b"\xff\x00'\"\\" * n} for n in range(4)]
    write_deltalake(tmp_path / "here" / "dead_letters", pa.Table.from_pylist(letters, LETTERS))
    return Path(shutil.copytree(tmp_path / "here", tmp_path / "there")).parent


def compared(root: Path, **options: Any) -> dict[str, TableDiff]:
    return {table.name: table for table in diff(root / "here", root / "there", root, **options)}


def differences(root: Path, table: str = "runs") -> list[tuple[tuple[Any, ...], str]]:
    return [(row.key, row.description) for row in compared(root)[table].rows]


def test_neither_order_nor_files_matter(root: Path) -> None:
    shutil.rmtree(root / "there" / "runs")
    for number in (3, 9, 1):
        write(root / "there", [run(number)])
    write(root / "there", [run(number) for number in (8, 7, 6, 5, 4, 2, 0, 99)])
    DeltaTable(root / "there" / "runs").delete("run_id = 'run-99'")
    found = compared(root)
    assert found["runs"].is_same
    assert found["runs"].hash_here == found["runs"].hash_there
    assert (found["runs"].rows_here, found["runs"].rows_there) == (10, 10)
    assert found["dead_letters"].is_same
    assert found["runs"].hash_here != found["dead_letters"].hash_here


def test_rows_that_differ_are_named_with_their_columns(root: Path) -> None:
    there = DeltaTable(root / "there" / "runs")
    there.delete("run_id IN ('run-1', 'run-2', 'run-3', 'run-4')")
    nested = [{"namespace": "db", "name": "quote"}]
    write(root / "there", [run(1, state=None), run(2, inputs=nested, started_at=None), run(3), run(3), run(77)])
    found = compared(root)
    assert not found["runs"].is_same
    assert differences(root) == [
        (("run-1",), "differs in state"),
        (("run-2",), "differs in started_at, inputs"),
        (("run-3",), "not as many copies"),
        (("run-4",), "only here"),
        (("run-77",), "only there"),
    ]
    assert (found["runs"].differing, len(compared(root, limit=2)["runs"].rows)) == (5, 2)
    assert list(compared(root, names=["dead_letters"])) == ["dead_letters"]


def test_bytes_and_several_columns_of_a_key(root: Path) -> None:
    letters = DeltaTable(root / "there" / "dead_letters")
    letters.delete('"offset" = 2')
    changed = {"topic": "t", "partition": 0, "offset": 2, "value": b"\xff\x00'\"\\\xff\x00'\"/"}
    write_deltalake(letters, pa.Table.from_pylist([changed], LETTERS), mode="append")
    assert differences(root, "dead_letters") == [(("t", 0, 2), "differs in value")]


def test_a_table_that_is_missing_on_one_side_differs(root: Path) -> None:
    shutil.rmtree(root / "there" / "runs")
    found = compared(root, limit=1)["runs"]
    assert (found.is_same, found.hash_there, found.rows_there, found.differing) == (False, None, 0, 10)
    assert [(row.key, row.description) for row in found.rows] == [(("run-0",), "only here")]


def test_a_column_of_a_later_release_is_compared(root: Path) -> None:
    rows = pa.Table.from_pylist([{**run(10), "trace_id": "t"}], RUNS.append(pa.field("trace_id", pa.string())))
    write_deltalake(root / "there" / "runs", rows, mode="append", schema_mode="merge")
    write(root / "here", [run(10)])
    assert differences(root) == [(("run-10",), "differs in trace_id")]


def test_missing_tables_and_remote_tables_are_errors(root: Path) -> None:
    with pytest.raises(TableNotFound, match="Did you mean runs"):
        compared(root, names=["run"])
    with pytest.raises(TableNotFound, match="There are no tables in"):
        list(diff(root / "nowhere", root / "there", root))
    with pytest.raises(UnreadableTable):
        CliRunner().invoke(app, ["diff", "x", "-s", "tables=s3a://lake/t"], catch_exceptions=False)


def test_the_exit_code_is_3_if_something_differs(root: Path) -> None:
    def invoke(*options: str) -> Any:
        places = [str(root / "here"), "-s", f"tables={root}/there", "-s", f"home={root}/home"]
        return CliRunner().invoke(app, ["diff", *places, "--table", "runs", *options])

    same = invoke()
    assert (same.exit_code, "1 tables, all the same." in same.output) == (0, True)
    DeltaTable(root / "there" / "runs").delete("run_id = 'run-5'")
    different = invoke()
    assert different.exit_code == 3
    assert "runs run-5" in different.output
    [table] = json.loads(invoke("-o", "json").stdout)
    assert (table["same"], table["differing"], table["rows"]) == ("NO", 1, [["runs run-5", "only here"]])
    assert len(table["hash"]) == 64
