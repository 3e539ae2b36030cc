"""What all routes have in common: hostile names, an empty installation, methods, unknown paths, caching, timeouts."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI

from lineproof.serving.api.marquez.routes import marquez_routes
from lineproof.serving.open_tables import OpenTables, QueryTimeout, TableSet
from tests.unit.serving.api.marquez.conftest import Api
from tests.unit.serving.api.marquez.world import HOSTILE, LAKE

ApiOver = Callable[[Path], Api]


@pytest.fixture(scope="module")
def hostile(hostile_tables: Path) -> Api:
    app = FastAPI()
    app.include_router(marquez_routes(OpenTables(str(hostile_tables))))
    return Api(app)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names(hostile: Api, name: str) -> None:
    job = hostile.get("/namespaces/{}/jobs/{}", name, name)
    assert job["id"] == {"namespace": name, "name": name}
    assert hostile.get("/namespaces/{}", name)["name"] == name
    assert hostile.get("/namespaces/{}/jobs/{}/runs", name, name)["totalCount"] == 1
    dataset = hostile.get("/namespaces/{}/datasets/{}", name, name)
    assert dataset["fields"][0]["name"] == name
    assert dataset["columnLineage"][0]["inputFields"][0]["namespace"] == name
    assert hostile.get("/namespaces/{}/datasets/{}/versions", name, name)["totalCount"] == 1
    for kind in ("job", "dataset"):
        graph = hostile.get("/lineage", nodeId=f"{kind}:{name}:{name}")["graph"]
        assert {node["id"] for node in graph} == {
            f"job:{name}:{name}",
            f"dataset:{name}:{name}",
            f"dataset:{name}:input",
        }
        assert graph[0]["data"]["name"] == name
    columns = hostile.get("/column-lineage", nodeId=f"datasetField:{name}:{name}:{name}")["graph"]
    assert [node["data"]["dataset"] for node in columns] == [name, "input"]
    found = hostile.get("/search", q=name)["results"]
    assert {(one["namespace"], one["name"]) for one in found} >= {(name, name)}


def test_a_plus_that_a_page_did_not_encode(hostile: Api) -> None:
    [name] = [name for name in HOSTILE if "+" in name]
    sent = quote(f"dataset:{name}:input", safe="+:")
    assert hostile.ask(f"/api/v1/lineage/?nodeId={sent}").json()["graph"][0]["data"]["namespace"] == name


EMPTY = {
    "namespaces": {"namespaces": []},
    "jobs": {"jobs": [], "totalCount": 0},
    "namespaces/a/jobs": {"jobs": [], "totalCount": 0},
    "namespaces/a/datasets": {"datasets": [], "totalCount": 0},
    "search?q=a": {"totalCount": 0, "results": []},
    "events/lineage": {"events": [], "totalCount": 0},
    "tags": {"tags": []},
    "sources": {"sources": []},
}


@pytest.mark.parametrize(("path", "answer"), EMPTY.items())
def test_an_empty_installation(api_over: ApiOver, tmp_path: Path, path: str, answer: Any) -> None:
    """Without any table, and without the directory of the tables."""
    for directory in (tmp_path, tmp_path / "none"):
        assert api_over(directory).ask(f"/api/v1/{path}").json() == answer


def test_an_empty_installation_has_statistics(api_over: ApiOver, tmp_path: Path) -> None:
    api = api_over(tmp_path)
    assert {part["count"] for part in api.get("/stats/jobs", period="WEEK")} == {0}
    assert {part["start"] for part in api.get("/stats/lineage-events")} == {0}
    assert api.ask("/api/v1/lineage?nodeId=job:a:b").status_code == 404
    assert api.ask("/api/v1/column-lineage?nodeId=dataset:a:b").status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v1/namespaces/a/b", "/api/v3/jobs", "/api/", "/api/v1/a%0Ab"],
)
def test_unknown_paths(api: Api, path: str) -> None:
    response = api.ask(path)
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST", "PATCH"])
@pytest.mark.parametrize("path", ["namespaces/a", "namespaces/a/datasets/b/tags/c", "tags/x", "jobs/runs/1/start"])
def test_writes(api: Api, method: str, path: str) -> None:
    response = api.ask(f"/api/v1/{path}", method)
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, HEAD"
    assert response.json()["details"].startswith("Lineage is changed by OpenLineage events alone")


@pytest.mark.parametrize("path", ["lineage/", "namespaces/", "search/?q=report", "jobs/?limit=1"])
def test_a_slash_at_the_end(api: Api, path: str) -> None:
    without = re.sub(r"/(?=$|\?)", "", path)
    assert api.ask(f"/api/v1/{path}").json() == api.ask(f"/api/v1/{without}").json()


def test_an_answer_is_sent_once(api: Api) -> None:
    first = api.ask("/api/v1/jobs")
    again = api.ask("/api/v1/jobs", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = api.ask("/api/v1/jobs?limit=1", headers={"If-None-Match": first.headers["etag"]})
    assert other.status_code == 200


def test_head(api: Api) -> None:
    assert api.ask("/api/v1/namespaces", "HEAD").status_code == 200


def test_an_earlier_time(api: Api) -> None:
    """Before the tables were written: there was nothing."""
    assert api.get("/jobs", as_of="2020-01-01T00:00:00Z") == {"jobs": [], "totalCount": 0}


def test_a_query_that_takes_too_long(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, **__: object) -> None:
        raise QueryTimeout("The query took longer than 10 s.", "Ask for less.")

    monkeypatch.setattr(TableSet, "query", late)
    response = api.ask("/api/v1/events/lineage")
    assert response.status_code == 503
    assert "took longer" in response.json()["message"]


def test_no_route_writes_to_the_schema_of_the_application(api: Api, marquez_tables: Path) -> None:
    app = FastAPI()
    app.include_router(marquez_routes(OpenTables(str(marquez_tables))))
    assert app.openapi()["paths"] == {}
    assert api.get("/namespaces/{}", LAKE)["name"] == LAKE
