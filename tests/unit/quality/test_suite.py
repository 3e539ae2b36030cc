"""Suites as files: what they say, and where they are wrong."""

from pathlib import Path

import pytest

from lineproof.quality.suite import SuiteError, find_suites, load_suite
from lineproof.schemas.reasons import Reason

OURS = Path(__file__).parents[3] / "quality" / "suites"


def written(directory: Path, text: str) -> Path:
    file = directory / "orders.yaml"
    file.write_text(text)
    return file


def test_a_suite_is_read_with_its_lines(tmp_path: Path) -> None:
    suite = load_suite(
        written(
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
    assert [(one.kind, dict(one.arguments), one.line) for one in suite.expectations] == [
        ("expect_column_to_exist", {"column": "id"}, 4),
        ("expect_table_row_count_to_be_between", {"min_value": 1}, 5),
    ]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("table: runs\nexpectations: [\n", 3, "expected"),
        ("- table: runs\n", 1, "A suite is a mapping."),
        ("table: runs\nexpectation: []\n", 2, "A suite has no member expectation."),
        ("expectations: []\n", 1, "It has to be said what is tested."),
        ("table: runs\npath: x\nexpectations: []\n", 1, "It has to be said what is tested."),
        ("path: x\nformat: csv\nexpectations: []\n", 2, "csv is no format."),
        ("path: x\ndataset: x\nexpectations: []\n", 2, "A dataset has a namespace and a name."),
        ("table: runs\n", 1, "Nothing is expected."),
        ("table: runs\nexpectations:\n  - a: {}\n    b: {}\n", 3, "An expectation is its name, with its arguments."),
        ("table: runs\nexpectations:\n  - a: {}\n  - b: 1\n", 4, "An expectation is its name, with its arguments."),
    ],
)
def test_a_mistake_is_told_with_file_and_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(SuiteError) as raised:
        load_suite(file)
    assert raised.value.what.startswith(f"{file}:{line}: ")
    assert what in raised.value.what
    assert raised.value.remedy


def test_the_example_is_a_suite() -> None:
    suite = load_suite(OURS.parents[1] / "conf" / "suites" / "orders.yaml.example")
    assert (suite.path, len(suite.expectations)) == ("data/orders", 5)


def test_the_suite_of_dead_letters_knows_every_reason() -> None:
    [known] = [one.arguments["value_set"] for one in load_suite(OURS / "dead_letters.yaml").expectations[2:]]
    assert known == [reason.value for reason in Reason]


def test_a_users_suite_takes_the_place_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "runs.yaml"
    file.write_text("")
    found = find_suites([OURS, tmp_path, tmp_path / "missing"])
    assert found["runs"] == file
    assert found["edges"] == OURS / "edges.yaml"
