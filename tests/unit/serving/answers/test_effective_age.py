"""How old the data in a dataset is, through what it was made from."""

from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random

import pytest

from lineproof.serving.answers import effective_age
from lineproof.serving.answers.cycles import Vertex, strongly_connected
from lineproof.serving.answers.effective_age import EffectiveLoad, effective_loads
from lineproof.serving.open_tables import OpenTables, TableSet
from tests.freshness_worlds import named
from tests.tables import make_tables

AT = datetime(2026, 1, 31, tzinfo=timezone.utc)
Load = tuple[float, list[str], list[str]]
"""When it ended, in hours; what it read; what it wrote."""


def world(directory: Path, *loads: Load) -> TableSet:
    """Tables with a run for each load, which took half an hour."""
    runs, job_io = [], []
    for number, (hour, inputs, outputs) in enumerate(loads):
        sides = {"inputs": [named(("ns", one)) for one in inputs], "outputs": [named(("ns", one)) for one in outputs]}
        io_id = f"{inputs} {outputs}"
        ended = AT + timedelta(hours=hour)
        times = {"started_at": ended - timedelta(minutes=30), "ended_at": ended}
        runs.append({"run_id": str(number), "io_id": io_id, "successful": True, **times, **sides})
        job_io.append({"io_id": io_id, "jobs": [], **sides})
    return OpenTables(str(make_tables(directory / "tables", {"runs": runs, "job_io": job_io}))).now()


def effective(tables: TableSet, name: str) -> tuple[float, str, list[str]] | None:
    """The hour of the oldest load, its dataset, and the sources of unknown age."""
    found: EffectiveLoad | None = effective_loads(tables, [("ns", name)]).get(("ns", name))
    if found is None:
        return None
    hour = (found.loaded_at - AT) / timedelta(hours=1)
    return hour, found.of.name, [one.name for one in found.sources]


def test_the_oldest_load_upstream_counts(tmp_path: Path) -> None:
    tables = world(tmp_path, (1, [], ["a"]), (3, [], ["b"]), (5, ["a", "b"], ["c"]), (7, ["c"], ["d"]))
    assert effective(tables, "d") == (1, "a", [])
    assert effective(tables, "b") == (3, "b", [])


def test_a_dataset_that_is_loaded_before_its_source_has_the_data_of_the_day_before(tmp_path: Path) -> None:
    tables = world(tmp_path, (2, [], ["source"]), (25, ["source"], ["early"]), (26, [], ["source"]))
    assert effective(tables, "early") == (2, "source", [])


def test_a_source_that_was_loaded_while_it_was_read_counts_as_it_was_before(tmp_path: Path) -> None:
    tables = world(tmp_path, (1, [], ["source"]), (4.8, [], ["source"]), (5, ["source"], ["d"]))
    assert effective(tables, "d") == (1, "source", [])


def test_sources_without_a_known_load_are_named(tmp_path: Path) -> None:
    tables = world(tmp_path, (5, ["outside", "a"], ["d"]), (3, ["also outside"], ["a"]))
    assert effective(tables, "d") == (3, "a", ["also outside", "outside"])
    assert effective(tables, "outside") is None
    assert effective(tables, "nowhere") is None


def test_datasets_that_are_made_from_each_other_count_as_one(tmp_path: Path) -> None:
    tables = world(
        tmp_path,
        *[(hour, ["total", "day"], ["total"]) for hour in range(10, 20)],
        *[(hour + 0.1, ["total"], ["x"]) for hour in range(10, 20)],
        *[(hour + 0.2, ["x"], ["total"]) for hour in range(10, 20)],
        *[(hour - 0.8, [], ["day"]) for hour in range(10, 20)],
    )
    assert effective(tables, "x") == (19.1, "x", [])
    assert effective(tables, "total") == (19.1, "x", [])
    itself = world(tmp_path / "itself", *[(hour, ["log"], ["log"]) for hour in range(5)])
    assert effective(itself, "log") == (4, "log", [])


def test_a_long_chain_with_diamonds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Load] = [(0, [], ["d0"]), (0.5, [], ["e0"])]
    for number in range(1, 60):
        before = [f"d{number - 1}", f"e{number - 1}"]
        loads += [(number, before, [f"d{number}"]), (number + 0.5, before, [f"e{number}"])]
    monkeypatch.setattr(effective_age, "MAX_SECONDS", 60)
    assert effective(world(tmp_path, *loads), "d59") == (0, "d0", [])


def test_a_search_that_takes_too_long_says_that_it_is_not_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = world(tmp_path, (1, [], ["a"]), (3, ["a"], ["b"]), (5, ["b"], ["c"]))
    monkeypatch.setattr(effective_age, "MAX_LOADS", 2)
    found = effective_loads(tables, [("ns", "c")])["ns", "c"]
    assert (found.of.name, found.is_complete) == ("b", False)
    monkeypatch.setattr(effective_age, "MAX_LOADS", 3)
    assert effective_loads(tables, [("ns", "c")])["ns", "c"].is_complete


@pytest.mark.parametrize("seed", range(20))
def test_components_are_mutual_reachability(seed: int) -> None:
    chance = Random(seed)
    vertices = [("n", str(number)) for number in range(12)]
    after: dict[Vertex, list[Vertex]] = {one: [*chance.sample(vertices, chance.randint(0, 2))] for one in vertices}

    def reached(start: Vertex) -> set[Vertex]:
        found, waiting = {start}, [start]
        while waiting:
            new = [one for one in after[waiting.pop()] if one not in found]
            found.update(new)
            waiting += new
        return found

    components = strongly_connected(after)
    for one in vertices:
        for other in vertices:
            assert (components[one] == components[other]) == (other in reached(one) and one in reached(other))


def test_lineage_that_is_deeper_than_the_stack() -> None:
    chain: dict[Vertex, list[Vertex]] = {("n", str(number)): [("n", str(number + 1))] for number in range(50_000)}
    assert len({*strongly_connected(chain).values()}) == 50_001
