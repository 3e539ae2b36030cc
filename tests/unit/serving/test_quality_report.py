"""`lineproof quality report`: the latest result of every test, in the terminal and as HTML; a gate for CI."""

import json
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from typer.testing import CliRunner

from lineproof.cli.main import app, main

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("result_id", "namespace", "name", "suite", "expectation", "column")),
        ("success", pa.bool_()),
        *((name, pa.string()) for name in ("severity", "expected", "observed")),
        ("unexpected_count", pa.int64()),
        ("unexpected_share", pa.float64()),
        ("samples", pa.list_(pa.string())),
        ("error", pa.string()),
        ("since", pa.timestamp("us", "UTC")),
        *((name, pa.string()) for name in ("run_id", "job_namespace", "job_name")),
        ("event_time", pa.timestamp("us", "UTC")),
        ("event_id", pa.string()),
    ]
)


def result(minute: int, expectation: str, success: bool | None, **more: Any) -> dict[str, Any]:
    return {
        "result_id": f"{minute}/{expectation}",
        "namespace": "file",
        "name": "/data/orders",
        "suite": "orders",
        "expectation": expectation,
        "success": success,
        "run_id": f"run-{minute}",
        "job_namespace": "lineproof",
        "job_name": "quality.orders",
        "event_time": datetime(2026, 1, 31, 10, minute, tzinfo=timezone.utc),
        "event_id": f"event-{minute}",
        **more,
    }


MARKUP = "<script>alert(1)</script>"
FAILED = result(
    2,
    "expect_column_values_to_be_in_set",
    False,
    **{"column": f"state{MARKUP}", "expected": f"value_set: ['{MARKUP}']", "observed": MARKUP, "unexpected_count": 3},
    **{"unexpected_share": 0.25, "samples": [MARKUP, "$x"]},
)
NOT_RUN = result(2, "expect_column_to_exist", False, column="x", error="orders.yaml:3: there is no column x.")
PASSED = result(2, "expect_table_row_count_to_equal", True, expected="value: 12", observed="12")


def stored(tmp_path: Path, *results: dict[str, Any]) -> list[str]:
    write_deltalake(tmp_path / "tables" / "quality_results", pa.Table.from_pylist(list(results), SCHEMA))
    return [f"--set=tables={tmp_path / 'tables'}"]


def test_failures_come_first_and_the_exit_code_is_3(tmp_path: Path) -> None:
    here = stored(tmp_path, result(1, "removed since", False), PASSED, FAILED, NOT_RUN)
    answer = CliRunner().invoke(app, ["quality", "report", "-o", "json", *here])
    assert answer.exit_code == 3
    shown = json.loads(answer.stdout)
    assert [row["success"] for row in shown] == [False, False, True]
    assert {row["expectation"]: row["unexpected_count"] for row in shown}["expect_column_values_to_be_in_set"] == 3
    assert answer.stderr == "1 of 3 tests passed.\n"


def test_the_exit_code_is_0_if_all_tests_pass(tmp_path: Path) -> None:
    here = stored(tmp_path, result(1, "expect_table_row_count_to_equal", False), PASSED)
    answer = CliRunner().invoke(app, ["quality", "report", *here])
    assert (answer.exit_code, answer.stderr) == (0, "1 of 1 tests passed.\n")
    assert "value: 12" in answer.stdout


def test_no_results_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["quality", "report", *stored(tmp_path)])
    assert exit_.value.code == 1
    assert "There are no results of tests" in capsys.readouterr().err


def test_the_html_report_loads_nothing_from_other_sites(tmp_path: Path) -> None:
    other = result(3, "not_null", True, suite=None, name="public.x", job_name="dbt.test")
    here = stored(tmp_path, FAILED, NOT_RUN, PASSED, other)
    page = tmp_path / "site" / "quality.html"
    answer = CliRunner().invoke(app, ["quality", "report", "--html", str(page), *here])
    assert answer.exit_code == 3
    html = page.read_text()
    text = " ".join(re.sub(r"<style>.*?</style>|<[^>]+>", " ", html, flags=re.DOTALL).split())
    assert "Expectation Suite: orders Data asset: file//data/orders Status: Failed" in text
    assert "3 unexpected values found. 25% of 12 total rows." in text
    assert "orders.yaml:3: there is no column x." in text
    assert "Expectation Suite: dbt.test Data asset: file/public.x Status: Succeeded" in text
    assert text.count("&lt;script&gt;alert(1)") == 4, "column, expectation, observed value and sample"
    assert "<script" not in html
    assert not re.search(r"(?:src|href)=\"(?!#)|url\('?http", html)
