"""Events, statistics, and the search."""

from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from lineproof.serving.api.marquez import stats
from lineproof.serving.api.marquez.ask import Ask
from lineproof.serving.open_tables import OpenTables
from tests.unit.serving.api.marquez.conftest import Api
from tests.unit.serving.api.marquez.world import DAILY, LAKE, LOAD, run_id

NOW = datetime(2026, 1, 31, 12, 30, tzinfo=timezone.utc)


def types(answer: dict[str, Any]) -> list[str]:
    return [event["eventType"] for event in answer["events"]]


def test_only_events_of_runs_the_latest_first(api: Api) -> None:
    answer = api.get("/events/lineage")
    assert types(answer) == ["START", "COMPLETE", "START", "FAIL", "START", "COMPLETE", "START", "COMPLETE", "START"]
    assert answer["totalCount"] == 9
    assert all(event["run"]["runId"] and event["job"]["name"] for event in answer["events"])
    assert api.get("/events") == answer
    assert api.get("/events/{}", "shop") == answer
    assert api.get("/events/{}", "none") == {"events": [], "totalCount": 0}


def test_events_are_as_they_were_sent(api: Api) -> None:
    [event] = api.get("/events/lineage", limit=1, offset=3)["events"]
    assert event["run"]["runId"] == run_id(3)
    assert event["run"]["facets"]["big"]["number"] == 2**70


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("after=2026-01-31T11:00:02Z", 2),
        ("before=2026-01-31T08:00:03.5Z", 1),
        ("before=2026-01-31T10:00:00%2B01:00&after=2026-01-31T09:00:00%2B01:00", 2),
        ("before=&after=&sortDirection=desc", 9),
        ("after=2026-02-01", 0),
        ("after=2026-01-31T10:00:00.000Z&limit=1&sortDirection=asc", 5),
    ],
)
def test_events_between_times(api: Api, query: str, count: int) -> None:
    answer = api.ask(f"/api/v1/events/lineage?{query}").json()
    assert answer["totalCount"] == count


def test_the_oldest_first(api: Api) -> None:
    ascending = api.get("/events/lineage", sortDirection="ASC")["events"]
    assert ascending == api.get("/events/lineage")["events"][::-1]


@pytest.mark.parametrize(
    "path",
    [
        "events/lineage?before=yesterday",
        "events/lineage?sortDirection=up",
        "events/lineage?limit=-1",
        "jobs?limit=many",
        "jobs?offset=1e3",
        "search?q=a&filter=RUN",
        "search?q=a&sort=size",
        "stats/jobs?period=YEAR",
        "stats/jobs?timezone=Mars/Phobos",
        "stats/jobs?timezone=../../etc/passwd",
        "jobs/runs/x/facets?type=dataset",
        "jobs?as_of=tomorrow",
    ],
)
def test_wrong_parameters(api: Api, path: str) -> None:
    response = api.ask(f"/api/v1/{path}")
    assert response.status_code == 400, response.text
    assert response.json().keys() == {"code", "message", "details"}


@pytest.fixture
def at_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "_now", lambda: NOW)


@pytest.mark.usefixtures("at_noon")
def test_events_by_hour(api: Api) -> None:
    answer = api.get("/stats/lineage-events", period="DAY", timezone="UTC")
    assert len(answer) == stats.HOURS
    assert (answer[0]["startInterval"], answer[-1]["endInterval"]) == ("2026-01-30T13:00:00Z", "2026-01-31T13:00:00Z")
    assert answer[-3] == {
        "startInterval": "2026-01-31T10:00:00Z",
        "endInterval": "2026-01-31T11:00:00Z",
        "start": 1,
        "complete": 0,
        "fail": 1,
        "abort": 0,
    }
    assert [sum(part[name] for part in answer) for name in ("start", "complete", "fail", "abort")] == [5, 3, 1, 0]


@pytest.mark.usefixtures("at_noon")
@pytest.mark.parametrize(
    ("zone", "by_day"), [("UTC", [0, 9]), ("Pacific/Auckland", [3, 6]), ("Asia/Kathmandu", [0, 9])]
)
def test_events_by_day_of_a_time_zone(api: Api, zone: str, by_day: list[int]) -> None:
    """Midnight in Auckland is 11:00 UTC."""
    answer = api.get("/stats/lineage-events", period="WEEK", timezone=zone)
    assert len(answer) == stats.DAYS
    counts = [sum(part[name] for name in ("start", "complete", "fail", "abort")) for part in answer]
    assert (counts[:-2], sorted(counts[-2:])) == ([0] * 5, sorted(by_day))
    today = NOW.astimezone(ZoneInfo(zone)).replace(hour=0, minute=0)
    assert datetime.fromisoformat(answer[-1]["startInterval"].replace("Z", "+00:00")) == today


@pytest.mark.usefixtures("at_noon")
@pytest.mark.parametrize(("asset", "counts"), [("jobs", [1, 1, 3, 4]), ("datasets", [2, 2, 3, 5]), ("sources", None)])
def test_how_many_there_were(api: Api, asset: str, counts: list[int] | None) -> None:
    answer = api.get(f"/stats/{asset}", period="DAY", timezone="UTC")
    assert len(answer) == stats.HOURS
    found = [part["count"] for part in answer]
    assert found[0] == 0
    assert found == sorted(found)
    if counts:
        by_hour = {part["startInterval"][11:13]: part["count"] for part in answer}
        assert [by_hour[hour] for hour in ("08", "10", "11", "12")] == counts


def test_intervals_follow_each_other(marquez_tables: Path) -> None:
    tables = OpenTables(str(marquez_tables)).now()
    for period in ("DAY", "WEEK"):
        ask = Ask(tables, (), {"period": [period], "timezone": ["Europe/Berlin"]}, {})
        for now in (NOW, NOW + timedelta(days=57), NOW + timedelta(days=267)):  # the days around a change of clocks
            parts = stats.intervals(ask, now)
            assert parts[-1][0] <= now < parts[-1][1]
            assert all(before[1] == after[0] for before, after in pairwise(parts))


def results(answer: dict[str, Any]) -> list[str]:
    return [one["nodeId"] for one in answer["results"]]


def test_search(api: Api) -> None:
    answer = api.get("/search", q="ORDERS")
    assert results(answer) == [
        f"dataset:{LAKE}:orders/daily",
        "job:shop:dag.load_orders",
        "dataset:postgres://db.internal:5432:shop.public.orders",
    ]
    assert answer["totalCount"] == 3
    assert answer["results"][1] == {
        "type": "JOB",
        "name": LOAD[1],
        "namespace": LOAD[0],
        "updatedAt": "2026-01-31T10:00:03.500000Z",
        "nodeId": "job:shop:dag.load_orders",
    }


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ({"q": "orders", "filter": "JOB"}, [LOAD[1]]),
        ({"q": "orders", "filter": "dataset", "namespace": LAKE}, [DAILY[1]]),
        ({"q": "report", "sort": "UPDATE_AT"}, ["report"]),
        ({"q": "p", "filter": "JOB", "sort": "UPDATE_AT"}, ["planned", "publish"]),
        ({"q": "p", "after": "2026-01-31T11:30:00Z", "filter": "JOB"}, ["planned"]),
        ({"q": "p", "before": "2026-01-31T11:30:00Z", "filter": "JOB"}, ["publish"]),
        ({"q": "orders", "limit": 1}, [DAILY[1]]),
        ({"q": "shop.orders_daily"}, []),
    ],
)
def test_filters_of_the_search(api: Api, parameters: dict[str, Any], names: list[str]) -> None:
    assert [one["name"] for one in api.get("/search", **parameters)["results"]] == names


def test_an_empty_search_finds_everything(api: Api) -> None:
    assert api.ask("/api/v1/search/?q=&sort=NAME&limit=100").json()["totalCount"] == 9


def test_the_other_search(api: Api) -> None:
    jobs = api.ask("/api/v2beta/search/jobs?q=load").json()
    [hit] = jobs["hits"]
    assert (hit["name"], hit["run_id"], hit["eventType"]) == (LOAD[1], run_id(3), "FAIL")
    assert hit["facets"]["sql"]["query"] == "SELECT 1"
    datasets = api.ask("/api/v2beta/search/datasets?q=daily").json()
    [dataset] = datasets["hits"]
    assert dataset["facets"]["schema"]["fields"][0]["name"] == "total"
    assert len(jobs["highlights"]) == len(datasets["highlights"]) == 1
