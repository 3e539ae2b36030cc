"""The views of freshness against the model, in DuckDB."""

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lineproof.serving.open_tables import OpenTables
from tests.freshness_worlds import NOW, a_run, assert_agrees, named, random_world, written
from tests.model.freshness import Learned, Pair, World, learned_limit

HOUR = 3_600_000
MONDAY = datetime(2026, 1, 5, 6, tzinfo=timezone.utc)


@pytest.fixture
def seed(record_property: Callable[[str, object], None]) -> int:
    seed = secrets.randbits(64)
    record_property("seed of freshness", seed)
    return seed


def rows(tables: Path) -> dict[Pair, dict[str, Any]]:
    found = OpenTables(str(tables)).now().rows("SELECT * FROM dataset_freshness")
    by_name = {(row["namespace"], row["name"]): row for row in found}
    assert len(by_name) == len(found)
    return by_name


def test_random_worlds_agree_with_the_model(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    for number in range(3):
        world = random_world(chance, 40)
        assert_agrees(rows(written(tmp_path / str(number), world)), world)


def loads_of(tables: Path) -> Learned | None:
    row = OpenTables(str(tables)).now().row("SELECT limit_ms, n, k, is_weekly FROM learned_limits")
    return Learned(**row) if row else None


def learned(tmp_path: Path, loads: list[datetime]) -> Learned | None:
    """What the view learns from these loads of one dataset, which the model learns, too."""
    runs = [a_run(str(number), at, [("ns", "d")]) for number, at in enumerate(loads)]
    found = loads_of(written(tmp_path / "tables", World(runs)))
    assert found == learned_limit(sorted({*loads}))
    return found


def test_nothing_is_learned_from_19_gaps_and_something_from_20(tmp_path: Path) -> None:
    days = [MONDAY + timedelta(days=day) for day in range(21)]
    assert learned(tmp_path / "19", days[:20]) is None
    assert learned(tmp_path / "20", days) == Learned(24 * HOUR, 20, 1, is_weekly=False)


def test_a_weekly_rhythm_is_learned_by_weekday(tmp_path: Path) -> None:
    """On a Friday the next load may take until Monday; on other days it may not."""
    days = [MONDAY + timedelta(days=day) for day in range(40 * 7)]
    workdays = [day for day in days if day.weekday() < 5]
    assert learned(tmp_path / "friday", workdays) == Learned(72 * HOUR, 39, 1, is_weekly=True)
    assert learned(tmp_path / "thursday", workdays[:-1]) == Learned(24 * HOUR, 159, 2, is_weekly=True)
    few = learned(tmp_path / "few", workdays[: 5 * 10])
    assert few == Learned(72 * HOUR, 49, 1, is_weekly=False), "ten Fridays are too few to learn from"


def test_one_outage_among_a_hundred_gaps_is_not_learned(tmp_path: Path) -> None:
    hours = [MONDAY + timedelta(hours=hour + (100 if hour > 60 else 0)) for hour in range(102)]
    assert learned(tmp_path, hours) == Learned(HOUR, 101, 2, is_weekly=False)


def test_loads_at_once_give_a_limit_of_a_minute(tmp_path: Path) -> None:
    at_once = [MONDAY + timedelta(microseconds=number) for number in range(30)]
    assert learned(tmp_path / "near", at_once) == Learned(60_000, 29, 1, is_weekly=False)
    assert learned(tmp_path / "same", [MONDAY] * 30) is None


def test_many_loads(tmp_path: Path) -> None:
    assert learned(tmp_path, [NOW - timedelta(minutes=5 * number) for number in range(10_000)]) == Learned(
        300_000, 200, 3, is_weekly=False
    )


def test_times_at_the_ends_of_the_calendar(tmp_path: Path) -> None:
    first = datetime(1, 1, 1, tzinfo=timezone.utc)
    assert learned(tmp_path, [first + timedelta(days=day) for day in range(30)]) == Learned(
        24 * HOUR, 29, 1, is_weekly=False
    )


@pytest.mark.parametrize(
    ("ahead", "verdict"),
    [(timedelta(minutes=4), "fresh"), (timedelta(minutes=10), "unknown"), (timedelta(days=9000), "unknown")],
)
def test_a_load_in_the_future(tmp_path: Path, ahead: timedelta, verdict: str) -> None:
    job = {"namespace": "jobs", "name": "j"}
    runs = [a_run("1", datetime.now(timezone.utc) + ahead, [("ns", "d")])]
    io = [{"io_id": "1", "jobs": [job], "inputs": [], "outputs": [named(("ns", "d"))]}]
    [row] = rows(written(tmp_path, World(runs, [{**job, "freshness_minutes": 1.0}], io))).values()
    assert (row["verdict"], row["age_ms"]) == (verdict, 0)


def test_events_that_an_emitter_lost_make_unknown_what_its_jobs_write(tmp_path: Path) -> None:
    """Until the next load: the lost events may have been a load, or the failure of the last one."""
    job, other = {"namespace": "jobs", "name": "j"}, {"namespace": "jobs", "name": "other"}
    hour = timedelta(hours=1)
    runs = [
        {**a_run("1", NOW - 3 * hour, [("ns", "d")]), "jobs": [job]},
        {**a_run("2", NOW - hour, [("ns", "reloaded")]), "jobs": [job]},
        {**a_run("3", NOW - 3 * hour, [("ns", "of another emitter")]), "jobs": [other]},
    ]
    io = [
        {"io_id": "1", "jobs": [job], "inputs": [], "outputs": [named(("ns", "d")), named(("ns", "reloaded"))]},
        {"io_id": "3", "jobs": [other], "inputs": [], "outputs": [named(("ns", "of another emitter"))]},
    ]
    limits = [{**one, "freshness_minutes": 60.0 * 24} for one in (job, other)]
    records = [
        {"emitter_id": "e", "sequence": 0, "run_id": "1", "timestamp": NOW - 3 * hour},
        {"emitter_id": "e", "sequence": 2, "run_id": "1", "timestamp": NOW - 2 * hour},
        {"emitter_id": "f", "sequence": 0, "run_id": "3", "timestamp": NOW - 3 * hour},
    ]
    found = rows(written(tmp_path, World(runs, limits, io), records=records))
    verdicts = {name: row["verdict"] for (_, name), row in found.items()}
    assert verdicts == {"d": "unknown", "reloaded": "fresh", "of another emitter": "fresh"}
    assert "missing" in found["ns", "d"]["reason"]


def test_empty_tables_have_no_rows(tmp_path: Path) -> None:
    assert rows(written(tmp_path, World([]))) == {}
