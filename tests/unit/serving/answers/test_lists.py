"""What holds for every list: pages are parts of the whole list, and the SQL of an answer gives its rows."""

from pathlib import Path
from random import Random, randrange
from typing import Any

import pytest

from lineproof.serving.answers.model import Page
from lineproof.serving.answers.paging import InvalidCursor, Paging, encode
from lineproof.serving.answers.runs import RunFilter, RunSummary, runs
from lineproof.serving.open_tables import OpenTables, TableSet
from lineproof.serving.sql import Tables
from tests.tables import make_tables
from tests.unit.serving.answers.lists import LISTS, List
from tests.unit.serving.answers.world import random_runs

ALL = Paging(limit=1000)
AS_MANY_ROWS = (
    "runs",
    "runs of a job",
    "jobs",
    "datasets",
    "violations",
    "ledgers",
    "certificates",
    "dead letters",
    "events",
)


@pytest.mark.parametrize("name", LISTS)
def test_pages_are_parts_of_the_whole_list(tables: TableSet, name: str) -> None:
    seed = randrange(2**32)
    print(f"seed {seed}")
    assert in_pages(LISTS[name], tables, Random(seed)) == LISTS[name](tables, ALL).items


def test_pages_of_runs_that_began_at_the_same_time(tmp_path: Path) -> None:
    seed = randrange(2**32)
    print(f"seed {seed}")
    make_tables(tmp_path / "tables", {"runs": random_runs(seed, 300)})
    tables, chance = OpenTables(str(tmp_path / "tables")).now(), Random(seed)
    whole = runs(tables, RunFilter(), ALL).items
    assert len({run.run_id for run in whole}) == 300
    assert in_pages(LISTS["runs"], tables, chance) == whole


def in_pages(of: List, tables: TableSet, chance: Random) -> list[object]:
    """The whole list, read in pages of random sizes."""
    found: list[object] = []
    cursor = None
    while True:
        limit = chance.choice((1, 2, 7, 50))
        page = of(tables, Paging(limit, cursor))
        assert len(page.items) <= limit
        found += page.items
        if page.next_cursor is None:
            return found
        assert len(page.items) == limit
        cursor = page.next_cursor


def test_a_page_begins_after_the_last_row_whatever_was_added(tmp_path: Path) -> None:
    rows = random_runs(1, 60)
    make_tables(tmp_path / "tables", {"runs": rows[:40]})
    opened = OpenTables(str(tmp_path / "tables"))
    first = runs(opened.now(), RunFilter(), Paging(limit=10))
    before = runs(opened.now(), RunFilter(), ALL).items
    make_tables(tmp_path / "tables", {"runs": rows[40:]}, mode="append")
    now = OpenTables(str(tmp_path / "tables")).now()
    rest: Page[RunSummary] = runs(now, RunFilter(), Paging(1000, first.next_cursor))
    assert [run for run in before if run not in first.items] == [run for run in rest.items if run in before]
    assert not {run.run_id for run in rest.items} & {run.run_id for run in first.items}


@pytest.mark.parametrize("name", LISTS)
def test_the_sql_of_an_answer_runs(tables: TableSet, directory: Path, name: str) -> None:
    answer = LISTS[name](tables, Paging(limit=5))
    rows = Tables(str(directory)).query(answer.sql).rows
    if name in AS_MANY_ROWS:
        assert len(rows) == len(answer.items)


KEYS: list[list[Any]] = [[], [1], ["2026-01-31T10:00:00+00:00"], [1, 2, 3], [None, "a"], ["soon", "a"], [["2026"], "a"]]
PLACES: list[list[Any]] = [[-1], ["1"], [None], [1, 2], [1.5]]


@pytest.mark.parametrize("cursor", ["x", "é", "[" * 99, *map(encode, KEYS)])
def test_a_cursor_of_another_list_is_refused(tables: TableSet, cursor: str) -> None:
    with pytest.raises(InvalidCursor, match="not one of this list"):
        runs(tables, RunFilter(), Paging(10, cursor))


@pytest.mark.parametrize("cursor", ["x", *map(encode, PLACES)])
def test_a_cursor_of_another_list_is_refused_by_lists_in_memory(tables: TableSet, cursor: str) -> None:
    with pytest.raises(InvalidCursor, match="not one of this list"):
        LISTS["chains"](tables, Paging(10, cursor))


@pytest.mark.parametrize("name", LISTS)
def test_an_empty_installation_has_empty_lists(empty: TableSet, name: str) -> None:
    answer = LISTS[name](empty, ALL)
    assert (answer.items, answer.next_cursor) == ([], None)
