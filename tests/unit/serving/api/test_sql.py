"""POST /sql: what it takes, what it answers, and how it refuses."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from lineproof.serving.answers.installation import Installation
from lineproof.serving.api.app import add_read_routes
from lineproof.serving.api.sql import MAX_BODY_BYTES, processes_of
from lineproof.serving.open_tables import OpenTables
from tests.tables import make_tables

URL = "/api/lineproof/v1/sql"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    home = tmp_path_factory.mktemp("home")
    make_tables(home / "tables", {"jobs": [{"namespace": "n", "name": "a\x00\u202e:x:"}]})
    app, tables = FastAPI(), OpenTables(str(home / "tables"), home / "spill")
    add_read_routes(app, tables, Installation("1.0", str(home / "checkpoints")))
    with TestClient(app) as client:
        yield client
    processes_of(app.state, tables).close()


def test_an_answer(client: TestClient) -> None:
    answered = client.post(URL, json={"sql": "SELECT name, 9007199254740993 AS large FROM jobs", "limit": 10})
    assert answered.status_code == 200
    assert answered.headers["cache-control"] == "no-store"
    document = answered.json()
    assert document["columns"] == [{"name": "name", "type": "VARCHAR"}, {"name": "large", "type": "BIGINT"}]
    assert document["rows"] == [["a\x00\u202e:x:", "9007199254740993"]]
    assert (document["truncated"], document["note"], document["known"]["how"]) == (False, None, "now")
    assert answered.text.isascii()
    assert answered.headers["lineproof-known"] == '{"how": "now", "at": null, "oldest_at": null}'


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"sql": "DROP TABLE jobs"}, 400, "not_a_select"),
        ({"sql": "SELECT no_such_column FROM jobs"}, 400, "query_failed"),
        ({"sql": "SELECT 1", "as_of": "soon"}, 400, "unknown_version"),
        ({"sql": "SELECT 1", "limit": 0}, 400, "invalid_parameter"),
        ({"sql": "SELECT 1", "limit": 10_001}, 400, "invalid_parameter"),
        ({"sql": "x" * 20_001}, 400, "invalid_parameter"),
        ({}, 400, "invalid_parameter"),
        ([], 400, "invalid_parameter"),
        ({"sql": 1}, 400, "invalid_parameter"),
    ],
)
def test_refusals_say_what_to_do(client: TestClient, body: Any, status: int, code: str) -> None:
    answered = client.post(URL, json=body)
    assert (answered.status_code, answered.json()["error"]) == (status, code)
    assert answered.json()["advice"]
    assert len(answered.text) < 3000


def test_the_body_is_bounded_json(client: TestClient) -> None:
    large = client.post(URL, content=b"x" * (MAX_BODY_BYTES + 1), headers={"Content-Type": "application/json"})
    assert (large.status_code, large.json()["error"]) == (413, "too_large")
    assert client.post(URL, content=b'{"sql": "SELECT 1"}').status_code == 415
    form = client.post(URL, content=b'{"sql": "SELECT 1"}', headers={"Content-Type": "text/plain"})
    assert form.json()["error"] == "no_json"
    broken = client.post(URL, content=b"{", headers={"Content-Type": "application/json; charset=utf-8"})
    assert broken.status_code == 400


def test_other_methods_and_paths_are_refused_as_json(client: TestClient) -> None:
    assert (client.get(URL).status_code, client.get(URL).json()["error"]) == (405, "method_not_allowed")
    assert client.post(f"{URL}/x", json={}).json()["error"] == "not_found"
    assert client.get("/api/lineproof/v1/nothing").json()["error"] == "not_found"


def test_it_is_described(client: TestClient) -> None:
    described = client.get("/openapi.json").json()["paths"][URL]["post"]
    assert "sql" in described["requestBody"]["content"]["application/json"]["schema"]["properties"]


def test_tables_elsewhere_are_refused(tmp_path: Path) -> None:
    app, tables = FastAPI(), OpenTables("s3a://bucket/tables", tmp_path)
    add_read_routes(app, tables, Installation("1.0", "s3a://bucket/checkpoints"))
    with TestClient(app) as client:
        answered = client.post(URL, json={"sql": "SELECT 1"})
    processes_of(app.state, tables).close()
    assert answered.status_code == 400
    assert "not on this machine" in answered.json()["message"]
