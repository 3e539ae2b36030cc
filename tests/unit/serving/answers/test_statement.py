"""SQL with literals means the same as with parameters."""

from datetime import datetime, timezone
from pathlib import Path

import pytest

from lineproof.serving.answers.statement import Conditions, Statement, like, one_of, sql_literal
from lineproof.serving.open_tables import OpenTables
from tests.tables import make_tables
from tests.unit.serving.answers.world import HOSTILE


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_found_by_the_sql_that_is_shown(tmp_path: Path, name: str) -> None:
    make_tables(tmp_path / "tables", {"jobs": [{"namespace": "n", "name": name}, {"namespace": "n", "name": "other"}]})
    tables = OpenTables(str(tmp_path / "tables")).now()
    exact = Statement("SELECT name FROM jobs WHERE name = ? AND namespace = ?", (name, "n"))
    part = Statement(r"SELECT name FROM jobs WHERE name ILIKE ? ESCAPE '\' AND name <> ?", (like(name), "other"))
    for statement in (exact, part):
        assert tables.query(statement.shown()).rows == [(name,)]
        assert tables.query(statement.text, *statement.parameters).rows == [(name,)]


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (None, "NULL"),
        (True, "True"),
        (7, "7"),
        (1.5, "1.5"),
        ("it's", "'it''s'"),
        (["a", "'"], "['a', '''']"),
        (datetime(2026, 1, 31, tzinfo=timezone.utc), "TIMESTAMPTZ '2026-01-31T00:00:00+00:00'"),
    ],
)
def test_literals(value: object, literal: str) -> None:
    assert sql_literal(value) == literal


def test_conditions() -> None:
    conditions = Conditions()
    assert conditions.where == ""
    conditions.equal("a", None)
    conditions.equal("b", 1)
    conditions.add("c > ?", 2)
    assert (conditions.where, conditions.parameters) == ("WHERE b = ? AND c > ?", [1, 2])


def test_one_of() -> None:
    assert one_of("a", []) == "false"
    assert one_of("a", [1, 2]) == "a IN (?, ?)"
