"""SQL of others in its own process: values as JSON, and what takes too much ends without harm."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import psutil
import pytest

from lineproof.serving.open_tables import QueryTimeout, UnknownVersion
from lineproof.serving.sandbox.answer import MAX_BYTES, MAX_ROWS
from lineproof.serving.sandbox.processes import MAX_PROCESSES, SqlProcesses, TooManyQueries
from lineproof.serving.sandbox.select_check import NotASelect
from lineproof.serving.sql import QueryError
from tests.tables import make_tables

TIMEOUT_S = 1.0
SECRET = "LINEPROOF_TEST_SECRET"
RUNS = [
    {"run_id": f"run-{number}", "job_namespace": "n", "job_name": "<script>:x:\x1b[31m", "state": "COMPLETED"}
    for number in range(20)
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tables(tmp_path_factory.mktemp("lake") / "tables", {"runs": RUNS})


@pytest.fixture(scope="module")
def processes(directory: Path) -> Iterator[SqlProcesses]:
    os.environ[SECRET] = "secret"
    found = SqlProcesses(str(directory), directory.parent / "spill", timeout_s=60)
    yield found
    found.close()
    del os.environ[SECRET]
    assert not [*(directory.parent / "spill").iterdir()], "nothing is left on disk"


@pytest.fixture(scope="module")
def hurried(directory: Path) -> Iterator[SqlProcesses]:
    found = SqlProcesses(str(directory), directory.parent / "hurried", timeout_s=TIMEOUT_S)
    yield found
    found.close()


def value(processes: SqlProcesses, expression: str) -> Any:
    """One value, as a strict JSON parser reads it."""
    answer = processes.run(f"SELECT {expression}", 1)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    return json.loads(json.dumps(answer["rows"][0][0], allow_nan=False), parse_constant=refuse)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1", 1),
        ("NULL", None),
        ("true", True),
        ("1.5::DOUBLE", 1.5),
        ("9007199254740992", 2**53),
        ("9007199254740993", "9007199254740993"),
        ("(-9223372036854775808)", str(-(2**63))),
        ("18446744073709551615::UBIGINT", str(2**64 - 1)),
        ("170141183460469231731687303715884105727::HUGEINT", str(2**127 - 1)),
        ("5::HUGEINT", 5),
        ("25::DECIMAL(20, 0)", 25),
        ("12345678901234567890::DECIMAL(20, 0)", "12345678901234567890"),
        ("1.50::DECIMAL(10, 2)", "1.50"),
        ("'NaN'::DOUBLE", "NaN"),
        ("'-Infinity'::FLOAT", "-Infinity"),
        ("'\\xAA\\x00'::BLOB", "qgA="),
        ("DATE '0044-03-15 (BC)'", "0044-03-15 (BC)"),
        ("DATE '2026-01-31'", "2026-01-31"),
        ("TIMESTAMPTZ '2026-01-31 12:00:00.123456+02'", "2026-01-31T10:00:00.123456Z"),
        ("TIMESTAMP '2026-01-31 10:00:00'", "2026-01-31T10:00:00"),
        ("TIMESTAMP '290309-12-22 (BC) 00:00:00'", "290309-12-22 (BC) 00:00:00"),
        ("'infinity'::TIMESTAMPTZ", "infinity"),
        ("INTERVAL '1 month 3 days'", "1 month 3 days"),
        ("[1, NULL, 9007199254740993]", [1, None, "9007199254740993"]),
        ("{'a': 'NaN'::DOUBLE, 'b': [{'c': '-inf'::DOUBLE}]}", {"a": "NaN", "b": [{"c": "-Infinity"}]}),
        ("MAP {'x': 1}", {"x": 1}),
        ("union_value(k := 1)", {"k": 1}),
        ("'inf'::DOUBLE::VARIANT", "Infinity"),
        ("'101'::BIT", "101"),
        ("'{\"a\": 1}'::JSON", '{"a": 1}'),
        ("chr(0) || chr(27) || chr(8238)", "\x00\x1b\u202e"),
        ("123456789012345678901234567890::BIGNUM", "123456789012345678901234567890"),
    ],
)
def test_values_are_json(processes: SqlProcesses, expression: str, expected: Any) -> None:
    assert value(processes, expression) == expected


def test_rows_of_a_table(processes: SqlProcesses) -> None:
    answer = processes.run("SELECT run_id, job_name, 1 AS run_id FROM runs ORDER BY run_id;  -- all", 100)
    assert answer["rows"][0] == ["run-0", "<script>:x:\x1b[31m", 1]
    assert [column["type"] for column in answer["columns"]] == ["VARCHAR", "VARCHAR", "INTEGER"]
    assert (len(answer["rows"]), answer["truncated"], answer["cut_values"], answer["note"]) == (20, False, 0, None)
    assert answer["known"]["how"] == "now"
    assert answer["versions"]["runs"] == 0
    assert processes.run("DESCRIBE runs", 1000)["rows"]
    assert processes.run("SELECT * FROM violations", 1000)["rows"] == []


def test_results_are_bounded(processes: SqlProcesses) -> None:
    assert processes.run("FROM runs", 20)["truncated"] is False
    few = processes.run("FROM runs", 19)
    assert (len(few["rows"]), few["truncated"]) == (19, True)
    many = processes.run("SELECT range FROM range(100000000)", 10**9)
    assert (len(many["rows"]), many["truncated"]) == (MAX_ROWS, True)
    large = processes.run("SELECT repeat('x', 5000) FROM range(10000)", 10_000)
    assert large["truncated"]
    assert 1 < len(large["rows"]) < 2000
    assert len(json.dumps(large["rows"])) < MAX_BYTES * 1.1
    [[long]] = processes.run("SELECT repeat('é', 3000000)", 1)["rows"]
    assert len(long) == 1_000_001
    assert long.endswith("…")
    assert processes.run("SELECT repeat('é', 3000000), [repeat('x', 2000000)]", 1)["cut_values"] == 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('x', 2000000000)",
        "SELECT length(repeat('x', 4000000000))",
        "SELECT len(range(1000000000))",
        "SELECT len(repeat([1], 1000000000))",
        "SELECT printf('%2000000000d', 1)",
        "SELECT list(range) FROM range(10000000000)",
        "SELECT string_agg(repeat('x', 100000), '') FROM range(100000)",
        "SELECT to_json(range(100000000))",
    ],
)
def test_too_much_memory_is_an_error(processes: SqlProcesses, sql: str) -> None:
    with pytest.raises((QueryError, QueryTimeout)):
        processes.run(sql, 10)
    assert value(processes, "1") == 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM range(1000000000000)",
        "SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))",  # cannot be interrupted
        "WITH RECURSIVE a AS (SELECT 1 x UNION ALL SELECT x + 1 FROM a) SELECT max(x) FROM a",
    ],
)
def test_too_much_time_is_an_error(hurried: SqlProcesses, processes: SqlProcesses, sql: str) -> None:
    began = time.monotonic()
    with pytest.raises((QueryTimeout, QueryError)) as refused:
        hurried.run(sql, 10)
    assert time.monotonic() - began < TIMEOUT_S + 30
    assert isinstance(refused.value, QueryTimeout) or "memory" in refused.value.what.lower()
    assert value(processes, "1") == 1


def test_errors_say_nothing_of_this_machine(processes: SqlProcesses, directory: Path) -> None:
    (directory / "link").symlink_to("/etc")
    for sql in ("FROM read_text('link/passwd')", f"FROM '{directory}/link/passwd'", "SELECT getenv('HOME')"):
        with pytest.raises(NotASelect):
            processes.run(sql, 1)
    with pytest.raises(QueryError) as refused:
        processes.run("SELECT no_such_column FROM runs", 1)
    assert str(directory) not in str(refused.value)
    (directory / "link").unlink()


def test_a_worker_sees_no_secrets(processes: SqlProcesses) -> None:
    assert value(processes, "1") == 1
    (worker, *_) = workers()
    assert SECRET not in worker.environ()


def test_a_worker_that_has_grown_too_much_is_replaced(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a query left in memory must not make the next one fail."""
    others = set(workers())
    found = SqlProcesses(str(directory), directory.parent / "growing", timeout_s=60)
    try:
        found.run("SELECT 1", 1)
        first = set(workers()) - others
        found.run("SELECT 1", 1)
        assert set(workers()) - others == first != set()
        monkeypatch.setattr("lineproof.serving.sandbox.processes.MAX_GROWTH", -1)
        assert found.run("SELECT 1", 1)["rows"] == [[1]]
        assert set(workers()) == others
        assert found.run("SELECT 1", 1)["rows"] == [[1]]
    finally:
        found.close()


def test_a_worker_that_was_killed_is_replaced(processes: SqlProcesses) -> None:
    assert value(processes, "1") == 1
    for worker in workers():
        worker.send_signal(signal.SIGKILL)
        worker.wait(10)
    assert value(processes, "2") == 2


def test_only_few_queries_run_at_once(directory: Path) -> None:
    busy = SqlProcesses(str(directory), directory.parent / "busy", timeout_s=1)
    found: list[type[BaseException]] = []

    def ask() -> None:
        try:
            busy.run("SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))", 1)
        except (QueryTimeout, TooManyQueries) as error:
            found.append(type(error))

    threads = [threading.Thread(target=ask) for _ in range(MAX_PROCESSES + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    busy.close()
    assert sorted(error.__name__ for error in found) == ["QueryTimeout"] * MAX_PROCESSES + ["TooManyQueries"]


def test_an_installation_without_tables(tmp_path: Path) -> None:
    empty = SqlProcesses(str(tmp_path / "none"), tmp_path / "spill")
    assert value(empty, "1") == 1
    answer = empty.run("SELECT count(*) FROM runs", 10)
    assert (answer["rows"], answer["note"]) == ([], "There is no table runs yet, so there are no rows.")
    empty.close()


def test_earlier_states(processes: SqlProcesses) -> None:
    answer = processes.run("SELECT count(*) FROM runs", 1, datetime.now(timezone.utc).isoformat())
    assert answer["rows"] == [[20]]
    assert processes.run("SELECT count(*) FROM runs", 1, "0")["known"]["at"].endswith("Z")
    with pytest.raises(UnknownVersion):
        processes.run("SELECT 1", 1, "soon")


def workers() -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process().children()
        if any("sandbox.worker" in argument for argument in child.cmdline())
    ]
