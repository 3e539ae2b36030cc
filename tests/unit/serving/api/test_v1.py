"""/api/lineproof/v1 over HTTP: every route, its caching, its errors, hostile names, earlier states."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from lineproof.serving.answers import overview as overviews
from lineproof.serving.answers.installation import Installation
from lineproof.serving.api.app import add_read_routes
from lineproof.serving.open_tables import OpenTables, QueryTimeout
from tests.streaming.story import REPORT, WORLD
from tests.tables import make_tables
from tests.unit.serving.answers.world import HOSTILE, UNBALANCED, make_world

V1 = "/api/lineproof/v1"
DATASET = {"namespace": WORLD, "name": "report"}
ROUTES: dict[str, dict[str, str]] = {
    "/overview": {},
    "/runs": {},
    f"/runs/{REPORT}": {},
    f"/runs/{REPORT}/facets": {},
    f"/runs/{REPORT}/events": {},
    "/jobs": {},
    "/job": {"namespace": WORLD, "name": "report"},
    "/datasets": {},
    "/dataset": DATASET,
    "/schemas": DATASET,
    "/quality": {},
    "/quality/summary": {},
    "/violations": {},
    "/ledgers": {},
    "/certificates": {},
    "/certificates/chains": {},
    "/gaps": {},
    "/dead-letters": {},
    "/dead-letters/reasons": {},
    "/defects": {},
    "/freshness": {},
    "/coverage": {},
    "/impact": DATASET,
    "/search": {"q": "report"},
    "/time": {"at": "2026-01-31T10:00:00Z"},
}
OF_ONE = (f"/runs/{REPORT}", f"/runs/{REPORT}/facets", f"/runs/{REPORT}/events", "/job", "/dataset")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with client_of(make_world(tmp_path_factory.mktemp("api") / "tables")) as made:
        yield made


def client_of(directory: Path) -> TestClient:
    app = FastAPI(docs_url=None, redoc_url=None)
    add_read_routes(app, OpenTables(str(directory), directory.parent / "spill"), Installation("1.0"))
    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize("path", ROUTES)
def test_every_route_answers_as_its_model_says(client: TestClient, path: str) -> None:
    answered = client.get(V1 + path, params=ROUTES[path])
    assert answered.status_code == 200, answered.text
    assert json.loads(answered.headers["lineproof-known"])["how"] == "now"
    template = path.replace(REPORT, "{run_id}")
    described = client.get("/openapi.json").json()["paths"][V1 + template]["get"]["responses"]["200"]
    schema = described["content"]["application/json"]["schema"]
    properties = client.get("/openapi.json").json()["components"]["schemas"][schema["$ref"].split("/")[-1]][
        "properties"
    ]
    assert set(properties) == set(answered.json())


def test_no_route_is_forgotten(client: TestClient) -> None:
    """The other routes have tests of their own."""
    elsewhere = ("/lineage", "/sql", "/me", "/version", "/effective-age", "/cycles")
    for path in client.get("/openapi.json").json()["paths"]:
        if path.startswith(V1) and not path.removeprefix(V1).startswith(elsewhere):
            assert path.removeprefix(V1).replace("{run_id}", REPORT) in ROUTES, path


@pytest.mark.parametrize("make", ["no directory", "no tables", "no rows"])
def test_an_empty_installation_answers(tmp_path: Path, make: str) -> None:
    if make != "no directory":
        (tmp_path / "tables").mkdir()
    if make == "no rows":
        make_tables(tmp_path / "tables")
    client = client_of(tmp_path / "tables")
    for path, parameters in ROUTES.items():
        answered = client.get(V1 + path, params=parameters)
        assert answered.status_code == (404 if path in OF_ONE else 200), answered.text
        if path in OF_ONE:
            assert answered.json()["advice"]


def test_an_answer_that_has_not_changed_is_not_sent_again(client: TestClient) -> None:
    first = client.get(f"{V1}/ledgers")
    tag = first.headers["etag"]
    assert tag.startswith('W/"')
    for stated in (tag, f'"other", {tag}', "*"):
        again = client.get(f"{V1}/ledgers", headers={"If-None-Match": stated})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert client.get(f"{V1}/ledgers", headers={"If-None-Match": '"other"'}).status_code == 200
    assert client.get(f"{V1}/ledgers?verdict=balanced").headers["etag"] != tag
    assert client.get(f"{V1}/certificates").headers["etag"] != tag


def test_a_new_version_of_a_table_changes_the_tag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineproof.serving.open_tables.CHECK_EVERY_S", -1.0)
    monkeypatch.setattr("lineproof.serving.api.reading.time.time", lambda: 0.0)
    directory = make_tables(tmp_path / "tables")
    client = client_of(directory)
    before = client.get(f"{V1}/jobs").headers["etag"]
    assert client.get(f"{V1}/jobs").headers["etag"] == before
    make_tables(directory, {"jobs": [{"namespace": "n", "name": "new"}]}, mode="append")
    answered = client.get(f"{V1}/jobs", headers={"If-None-Match": before})
    assert (answered.status_code, [one["name"] for one in answered.json()["items"]]) == (200, ["new"])


def test_an_answer_about_now_changes_with_time(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run becomes overdue although no table changes."""
    tags = set()
    for now in (0.0, 1.0, 100.0):
        monkeypatch.setattr("lineproof.serving.api.reading.time.time", lambda now=now: now)
        tags.add(client.get(f"{V1}/runs").headers["etag"])
    assert len(tags) == 2


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [("gzip", True), ("br, gzip;q=0.5", True), ("identity", False), ("gzip;q=0", False), ("", False)],
)
def test_gzip(client: TestClient, accepted: str, is_compressed: bool) -> None:
    with client.stream("GET", f"{V1}/runs", headers={"Accept-Encoding": accepted}) as answered:
        raw = b"".join(answered.iter_raw())
    assert (answered.headers.get("content-encoding") == "gzip") == is_compressed
    assert json.loads(gzip.decompress(raw) if is_compressed else raw)["items"]
    assert answered.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/runs?limit=0", 400, "invalid_parameter"),
        ("/runs?limit=1001", 400, "invalid_parameter"),
        ("/runs?state=LOST", 400, "invalid_parameter"),
        ("/runs?since=soon", 400, "invalid_parameter"),
        ("/runs?cursor=x", 400, "invalid_cursor"),
        ("/runs?as_of=soon", 400, "unknown_version"),
        ("/runs?as_of=99", 400, "unknown_version"),
        ("/job?name=x", 400, "invalid_parameter"),
        ("/violations?kind=other", 400, "invalid_parameter"),
        ("/runs/no%2Fsuch/run", 404, "not_found"),
        ("/job?namespace=a&name=b", 404, "not_found"),
        ("/dataset?namespace=a&name=b", 404, "not_found"),
        ("/no-such-route", 404, "not_found"),
    ],
)
def test_errors_say_what_to_do(client: TestClient, path: str, status: int, code: str) -> None:
    answered = client.get(V1 + path)
    assert (answered.status_code, answered.json()["error"]) == (status, code)
    assert answered.json()["message"]
    assert answered.json()["advice"]


def test_a_slow_query_is_said_to_be_slow(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_slow(*_: Any) -> Any:
        raise QueryTimeout("The query took longer than 10 s.", "Ask for less.")

    monkeypatch.setattr(overviews, "tiles", too_slow)
    answered = client.get(f"{V1}/overview")
    assert (answered.status_code, answered.json()["error"]) == (503, "query_timeout")


def test_a_fault_of_our_own_is_an_answer_too(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overviews, "tiles", lambda *_: 1 // 0)
    answered = client.get(f"{V1}/overview")
    assert (answered.status_code, answered.json()["error"]) == (500, "failed")
    assert "ZeroDivisionError" in answered.json()["message"]


def test_pages_over_http(client: TestClient) -> None:
    whole = client.get(f"{V1}/runs?limit=1000").json()["items"]
    found, query = [], {"limit": "4"}
    while True:
        answered = client.get(f"{V1}/runs", params=query).json()
        found += answered["items"]
        if answered["next_cursor"] is None:
            break
        query["cursor"] = answered["next_cursor"]
    assert found == whole


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_come_back_as_they_are(client: TestClient, name: str) -> None:
    of = {"namespace": name, "name": name}
    assert client.get(f"{V1}/job", params=of).json()["name"] == name
    assert client.get(f"{V1}/dataset", params=of).json()["fields"][0]["name"] == name
    assert client.get(f"{V1}/runs", params=of).json()["items"][0]["job"] == of
    assert (
        client.get(f"{V1}/impact", params={"namespace": name, "name": f"{name} in"}).json()["items"][0]["name"] == name
    )
    assert name in {one["name"] for one in client.get(f"{V1}/search", params={"q": name}).json()["items"]}
    assert client.get(f"{V1}/runs/{quote(name)}").json()["error"] == "not_found"


def test_a_run_id_may_have_slashes(tmp_path: Path) -> None:
    times = {"first_event_at": None, "last_event_at": None}
    row = {"run_id": "scheduled/2026", "state": "NEW", "successful": False, **times}
    client = client_of(make_tables(tmp_path / "tables", {"runs": [row]}))
    for path in ("scheduled/2026", "scheduled%2F2026"):
        assert client.get(f"{V1}/runs/{path}").json()["run_id"] == "scheduled/2026"
        assert client.get(f"{V1}/runs/{path}/facets").status_code == 200


def test_half_a_character_in_a_facet(tmp_path: Path) -> None:
    facets = [{"name": "f", "facet": '{"a": "\\ud800", "n": 123456789012345678901234567890}'}]
    client = client_of(make_tables(tmp_path / "tables", {"jobs": [{"namespace": "n", "name": "j", "facets": facets}]}))
    answered = client.get(f"{V1}/job?namespace=n&name=j")
    assert json.loads(answered.content)["facets"]["f"] == {"a": "\ud800", "n": 123456789012345678901234567890}


def test_earlier_states(client: TestClient) -> None:
    long_ago = client.get(f"{V1}/runs?as_of=2000-01-01T00:00:00Z")
    assert long_ago.json()["items"] == []
    known = json.loads(long_ago.headers["lineproof-known"])
    assert known["at"] == "2000-01-01T00:00:00+00:00"
    assert known["oldest_at"]
    future = client.get(f"{V1}/runs?as_of=2999-01-01").json()
    assert UNBALANCED in {one["run_id"] for one in future["items"]}


@pytest.mark.parametrize(
    ("path", "media_type"), [("", "text/html"), ("/docs.css", "text/css"), ("/docs.js", "text/javascript")]
)
def test_the_page_of_the_api_asks_no_other_host(client: TestClient, path: str, media_type: str) -> None:
    answered = client.get(f"/docs{path}")
    assert answered.headers["content-type"].startswith(media_type)
    assert "default-src 'self'" in answered.headers["content-security-policy"]
    assert "unsafe" not in answered.headers["content-security-policy"]
    assert "http://" not in answered.text
    assert "https://" not in answered.text
    assert " style=" not in answered.text


def test_the_page_of_the_api_is_found(client: TestClient) -> None:
    assert client.get("/api/docs", follow_redirects=False).headers["location"] == "../docs"
    assert client.get("/docs/other").status_code in (400, 404, 422)
