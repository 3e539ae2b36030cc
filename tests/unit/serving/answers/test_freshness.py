"""Freshness with what only the installation knows: limits in settings, and whether the job has read everything."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random

import pytest

from lineproof.serving.answers.changes import changes
from lineproof.serving.answers.datasets import dataset
from lineproof.serving.answers.freshness import Verdict, every_freshness, freshness, freshness_counts
from lineproof.serving.answers.installation import CriticalPipeline, Installation
from lineproof.serving.answers.overview import overview
from lineproof.serving.answers.paging import Paging
from lineproof.serving.open_tables import OpenTables, TableSet
from tests.freshness_worlds import a_run, named, random_world, written
from tests.heartbeat import beat
from tests.model.freshness import World
from tests.unit.serving.answers.world import HOSTILE

NOW = datetime.now(timezone.utc)
HOUR = timedelta(hours=1)
JOB = {"namespace": "jobs", "name": "j"}


@pytest.fixture
def up(tmp_path: Path) -> Installation:
    """The job runs and has read everything."""
    return Installation("1.0", beat(tmp_path / "checkpoints"))


def loaded(directory: Path, ages: dict[str, timedelta], minutes: float | None = None) -> TableSet:
    """Datasets that one job loaded so long ago."""
    pairs = [("ns", name) for name in ages]
    runs = [a_run(name, NOW - age, [("ns", name)]) for name, age in ages.items()]
    io = [{"io_id": name, "jobs": [JOB], "inputs": [], "outputs": [named(("ns", name))]} for name in ages]
    with_io = [{**run, "io_id": run["run_id"], "jobs": [JOB]} for run in runs]
    world = World(with_io, [{**JOB, "freshness_minutes": minutes}], io, [named(pair) for pair in pairs])
    return OpenTables(str(written(directory / "tables", world))).now()


def verdicts(tables: TableSet, installation: Installation) -> dict[str, Verdict]:
    return {one.name: one.verdict for one in every_freshness(tables, installation)}


def test_the_answer_is_that_of_the_view(tmp_path: Path, up: Installation) -> None:
    world = random_world(Random(27), 40)
    tables = OpenTables(str(written(tmp_path / "tables", world))).now()
    by_view = {(row["namespace"], row["name"]): row for row in tables.rows("SELECT * FROM dataset_freshness")}
    found = {(one.namespace, one.name): one for one in every_freshness(tables, up)}
    assert found.keys() == by_view.keys()
    for node, one in found.items():
        row = by_view[node]
        assert (one.verdict, one.reason, one.loaded_at) == (row["verdict"], row["reason"], row["loaded_at"]), node
        assert one.limit_source == row["limit_source"]
        assert (one.learned.n if one.learned else None) == row["n"]
    assert {one.verdict for one in found.values()} >= {"unknown"}


@pytest.mark.parametrize("heartbeat", [{"state": "stopped"}, {"ago": 3600}, None])
def test_nothing_is_green_while_events_may_be_missing(
    tmp_path: Path, up: Installation, heartbeat: dict[str, float] | None
) -> None:
    tables = loaded(tmp_path, {"new": HOUR, "old": 48 * HOUR}, minutes=24 * 60)
    assert verdicts(tables, up) == {"old": "late", "new": "fresh"}
    if heartbeat is None:
        up = replace(up, checkpoints="")
    else:
        beat(Path(up.checkpoints), **heartbeat)  # type: ignore[arg-type]
    assert verdicts(tables, up) == {"new": "unknown", "old": "unknown"}
    late = next(tile for tile in overview(tables, up).tiles if tile.id == "late")
    assert (late.value, late.trust) == ("unknown", "unknown")
    assert changes(tables, up) == []
    shares = [share for one in every_freshness(tables, up) for share in one.slo]
    assert all(share.late == 0 for share in shares if share.days == 1 and share.fresh < 1)


def test_of_several_declared_limits_the_shortest_counts(tmp_path: Path, up: Installation) -> None:
    tables = loaded(tmp_path, {"a/b": 3 * HOUR, "other": 3 * HOUR}, minutes=24 * 60)
    listed = replace(up, pipelines=(CriticalPipeline("jobs", "j", freshness_s=7200),), pipelines_from="list.yaml")
    assert {one.source for one in every_freshness(tables, listed)} == {"list.yaml"}
    assert verdicts(tables, listed) == {"a/b": "late", "other": "late"}
    by_pattern = replace(up, limits=(("ns/a*", 60.0), ("ns/*", 10**7)))
    found = {one.name: (one.verdict, one.source, one.limit_s) for one in every_freshness(tables, by_pattern)}
    assert found == {"a/b": ("late", "freshness.limits: ns/a*", 60), "other": ("fresh", "jobs/j", 86_400)}


def test_a_pattern_gives_a_limit_where_nothing_else_does(tmp_path: Path, up: Installation) -> None:
    ages = {**dict.fromkeys(HOSTILE, HOUR), "never": HOUR}
    tables = loaded(tmp_path, ages)
    assert {*verdicts(tables, up).values()} == {"unknown"}
    found = verdicts(tables, replace(up, limits=(("NS/*", 1.0), ("ns/[!n]*", 7200.0))))
    assert found == {name: "unknown" if name == "never" else "fresh" for name in ages}


def test_late_first_and_pages(tmp_path: Path, up: Installation) -> None:
    ages = {f"d{number}": number * HOUR for number in range(6)}
    tables = loaded(tmp_path, ages, minutes=150)
    names = [one.name for one in every_freshness(tables, up)]
    assert names == ["d5", "d4", "d3", "d2", "d1", "d0"]
    first = freshness(tables, None, Paging(limit=4), up)
    second = freshness(tables, None, Paging(limit=4, cursor=first.next_cursor), up)
    assert [one.name for one in (*first.items, *second.items)] == names
    assert [one.name for one in freshness(tables, "late", Paging(), up).items] == ["d5", "d4", "d3"]
    counts = freshness_counts(tables, up)
    assert (counts.late, counts.fresh, counts.unknown) == (3, 3, 0)
    assert [row[1] for row in tables.query(f"SELECT namespace, name FROM ({first.sql})").rows] == names
    assert [change.kind for change in changes(tables, up)] == ["late"] * 3
    one = dataset(tables, "ns", "d5", up)
    assert one is not None
    assert (one.freshness.verdict, one.freshness.limit_s) == ("late", 9000)


def test_an_earlier_state_is_judged_at_its_time(tmp_path: Path, up: Installation) -> None:
    """Whether the job runs now says nothing about then."""
    beat(Path(up.checkpoints), state="stopped")
    loaded(tmp_path, {"d": HOUR}, minutes=24 * 60)
    tables = OpenTables(str(tmp_path / "tables")).as_of((NOW - 30 * timedelta(days=1)).isoformat())
    assert [one.verdict for one in every_freshness(tables, up)] in ([], ["unknown"])


def test_an_empty_installation_has_no_datasets(tmp_path: Path, up: Installation) -> None:
    tables = OpenTables(str(tmp_path)).now()
    assert every_freshness(tables, up) == []
    late = next(tile for tile in overview(tables, up).tiles if tile.id == "late")
    assert (late.value, late.trust) == ("unknown", "unknown")
