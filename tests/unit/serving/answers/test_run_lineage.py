"""Lineage of runs: who wrote what was read."""

from pathlib import Path

import pytest

from lineproof.serving.answers.run_lineage import RunLineage, run_lineage
from lineproof.serving.open_tables import OpenTables, TableSet
from tests.tables import tables_of
from tests.unit.serving.answers.lineage_events import pipeline, run_events, run_id


@pytest.fixture(name="shop", scope="module")
def _shop(tmp_path_factory: pytest.TempPathFactory) -> TableSet:
    return OpenTables(str(tables_of(tmp_path_factory.mktemp("runs") / "tables", pipeline()))).now()


def links(found: RunLineage | None) -> set[tuple[str, str]]:
    assert found
    assert {run.run_id for run in found.nodes} >= {edge.source_run for edge in found.edges}
    return {(edge.source_run, edge.target_run) for edge in found.edges}


def test_the_last_successful_run_before_it_wrote_what_it_read(shop: TableSet) -> None:
    report, last, first = run_id("report", 50), run_id("load", 30), run_id("load", 0)
    assert links(run_lineage(shop, report)) == {(last, report)}
    early = run_id("reader 01", 5)
    assert links(run_lineage(shop, early)) == {(first, early)}


def test_readers_until_it_was_written_again(shop: TableSet) -> None:
    assert links(run_lineage(shop, run_id("load", 0))) == {(run_id("load", 0), run_id("reader 01", 5))}
    assert links(run_lineage(shop, run_id("load", 10))) == set(), "nobody read before the next load"
    last = links(run_lineage(shop, run_id("load", 30)))
    assert len(last) == 40
    assert (run_id("load", 30), run_id("report", 50)) in last


def test_a_failed_run_wrote_nothing(shop: TableSet) -> None:
    failed = run_lineage(shop, run_id("load", 15))
    assert links(failed) == set()
    assert failed
    assert [run.trust for run in failed.nodes] == ["broken"]


def test_depth_and_cycles(tmp_path: Path) -> None:
    events = [
        *run_events("a", 0, [("x", 1)], [("y", 1)]),
        *run_events("b", 10, [("y", 1)], [("x", 1)]),
        *run_events("a", 20, [("x", 1)], [("y", 1)]),
    ]
    tables = OpenTables(str(tables_of(tmp_path / "tables", events))).now()
    steps = [(run_id("a", 0), run_id("b", 10)), (run_id("b", 10), run_id("a", 20))]
    assert links(run_lineage(tables, run_id("a", 20), up=9)) == {*steps}
    assert links(run_lineage(tables, run_id("a", 20), up=1)) == {steps[1]}
    assert links(run_lineage(tables, run_id("a", 0), down=9)) == {*steps}


def test_runs_that_do_not_exist(shop: TableSet, empty: TableSet) -> None:
    assert run_lineage(shop, "no such run") is None
    assert run_lineage(empty, "x") is None
