"""Suites are loaded from YAML, and errors name the file and line."""

from pathlib import Path

import pytest

from lineproof.quality.suite import SuiteError, find_suites, load_suite
from lineproof.schemas.reasons import Reason

OUR_SUITES = Path(__file__).parents[3] / "quality" / "suites"


def write_suite(directory: Path, text: str) -> Path:
    file = directory / "orders.yaml"
    file.write_text(text)
    return file


def test_loads_a_suite_with_line_numbers(tmp_path: Path) -> None:
    suite = load_suite(
        write_suite(
            tmp_path,
            "path: s3://lake/orders\n"
            "dataset: {namespace: 's3://lake', name: orders}\n"
            "expectations:\n"
            "  - expect_column_to_exist: {column: id}\n"
            "  - expect_table_row_count_to_be_between:\n"
            "      min_value: 1\n",
        )
    )
    assert (suite.name, suite.table, suite.path, suite.format) == ("orders", None, "s3://lake/orders", "delta")
    assert suite.dataset == ("s3://lake", "orders")
    assert [(declared.kind, dict(declared.arguments), declared.line) for declared in suite.expectations] == [
        ("expect_column_to_exist", {"column": "id"}, 4),
        ("expect_table_row_count_to_be_between", {"min_value": 1}, 5),
    ]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("table: runs\nexpectations: [\n", 3, "expected"),
        ("- table: runs\n", 1, "A suite is a mapping."),
        ("table: runs\nexpectation: []\n", 2, "A suite has no member expectation."),
        ("expectations: []\n", 1, "A suite needs exactly one of table and path."),
        ("table: runs\npath: x\nexpectations: []\n", 1, "A suite needs exactly one of table and path."),
        ("path: x\nformat: csv\nexpectations: []\n", 2, "The format csv is not supported."),
        ("path: x\ndataset: x\nexpectations: []\n", 2, "A dataset has a namespace and a name."),
        ("table: runs\n", 1, "A suite needs at least one expectation."),
        (
            "table: runs\nexpectations:\n  - a: {}\n    b: {}\n",
            3,
            "An expectation is a name with a mapping of arguments.",
        ),
        (
            "table: runs\nexpectations:\n  - a: {}\n  - b: 1\n",
            4,
            "An expectation is a name with a mapping of arguments.",
        ),
    ],
)
def test_a_mistake_is_reported_with_file_and_line(tmp_path: Path, text: str, line: int, problem: str) -> None:
    file = write_suite(tmp_path, text)
    with pytest.raises(SuiteError) as raised:
        load_suite(file)
    assert raised.value.what.startswith(f"{file}:{line}: ")
    assert problem in raised.value.what
    assert raised.value.remedy


def test_the_example_suite_loads() -> None:
    suite = load_suite(OUR_SUITES.parents[1] / "conf" / "suites" / "orders.yaml.example")
    assert (suite.path, len(suite.expectations)) == ("data/orders", 5)


def test_the_dead_letters_suite_lists_every_reason() -> None:
    [known] = [
        declared.arguments["value_set"] for declared in load_suite(OUR_SUITES / "dead_letters.yaml").expectations[2:]
    ]
    assert known == [reason.value for reason in Reason]


def test_a_suite_of_the_user_replaces_ours(tmp_path: Path) -> None:
    file = tmp_path / "runs.yaml"
    file.write_text("")
    found = find_suites([OUR_SUITES, tmp_path, tmp_path / "missing"])
    assert found["runs"] == file
    assert found["job_io"] == OUR_SUITES / "job_io.yaml"
