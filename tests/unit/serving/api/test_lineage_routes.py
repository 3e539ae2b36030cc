"""/lineage and its relatives over HTTP."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from lineproof.serving.answers.installation import Installation
from lineproof.serving.api.app import add_read_routes
from lineproof.serving.open_tables import OpenTables
from tests.tables import make_tables, tables_of
from tests.unit.serving.answers.lineage_events import pipeline, run_events, run_id
from tests.unit.serving.answers.world import HOSTILE, hostile_events

V1 = "/api/lineproof/v1"
COMMA = "a,b%2C,100%"
"""A name that would be taken apart if ids were not encoded."""
ORDERS = {"kind": "dataset", "namespace": "shop", "name": "orders"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    events = [*pipeline(), *hostile_events(), *run_events(COMMA, 90, [("x", 1)], [("y", 1)])]
    with client_of(tables_of(tmp_path_factory.mktemp("api") / "tables", events)) as made:
        yield made


def client_of(directory: Path) -> TestClient:
    app = FastAPI()
    add_read_routes(app, OpenTables(str(directory)), Installation("1.2.3"))
    return TestClient(app)


def ids(client: TestClient, **query: Any) -> set[str]:
    response = client.get(f"{V1}/lineage", params=query)
    assert response.status_code == 200, response.text
    return {node["id"] for node in response.json()["nodes"]}


def test_the_graph_with_its_headers(client: TestClient) -> None:
    response = client.get(f"{V1}/lineage", params=ORDERS)
    assert response.json()["center"] == "dataset:shop:orders"
    assert json.loads(response.headers["Lineproof-Known"])["how"] == "now"
    again = client.get(f"{V1}/lineage", params=ORDERS, headers={"If-None-Match": response.headers["ETag"]})
    assert again.status_code == 304


def test_ids_in_lists_are_encoded_one_by_one(client: TestClient) -> None:
    opened = f"up:job:shop:{COMMA}"
    start = {"kind": "dataset", "namespace": "shop", "name": "y"}
    assert "dataset:shop:x" not in ids(client, **start)
    assert "dataset:shop:x" in ids(client, **start, open=quote(opened, safe=""))
    assert "dataset:shop:x" in ids(client, **start, open=f"nonsense,,{quote(opened, safe='')}")
    closed = quote("up:dataset:shop:y", safe="")
    assert ids(client, **start, open=quote(opened, safe=""), closed=closed) == {"dataset:shop:y"}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(client: TestClient, name: str) -> None:
    job = f"job:{name}:{name}"
    query = {"kind": "job", "namespace": name, "name": name}
    assert ids(client, **query) == {job, f"dataset:{name}:{name}", f"dataset:{name}:{name} in"}
    assert ids(client, **query, closed=quote(f"up:{job}", safe="")) == {job, f"dataset:{name}:{name}"}
    exported = client.get(f"{V1}/lineage/export", params=query)
    lines = [*csv.reader(io.StringIO(exported.text, newline=""))]
    assert ["job", name, name, "dataset", name, name] in [line[:6] for line in lines]
    path = client.get(f"{V1}/lineage/columns", params={"namespace": name, "name": name, "field": name})
    assert path.json()["nodes"][0]["fields"] == [name]


def test_the_export_is_a_file(client: TestClient) -> None:
    response = client.get(f"{V1}/lineage/export", params={**ORDERS, "up": 2})
    assert response.headers["Content-Type"].startswith("text/csv")
    assert "attachment" in response.headers["Content-Disposition"]
    assert {line["source_name"] for line in csv.DictReader(io.StringIO(response.text))} >= {"raw", "load", "orders"}


def test_an_earlier_time(tmp_path: Path) -> None:
    tables = tables_of(tmp_path / "tables", pipeline())
    make_tables(tables, {"lineage_events": [{"event_id": "later"}]}, mode="append")  # version 1
    late = {"jobs": [{"namespace": "shop", "name": "late"}], "inputs": [{"namespace": "shop", "name": "totals"}]}
    make_tables(tables, {"job_io": [{"io_id": "late", "outputs": [], **late}]}, mode="append")
    query = {"kind": "dataset", "namespace": "shop", "name": "totals"}
    with client_of(tables) as client:
        before = ids(client, **query, as_of="1")
        assert "job:shop:report" in before
        assert ids(client, **query) == before | {"job:shop:late"}
        assert client.get(f"{V1}/lineage", params={**query, "as_of": "2000-01-01T00:00:00Z"}).status_code == 404


def test_lineage_of_a_run(client: TestClient) -> None:
    found = client.get(f"{V1}/lineage/run", params={"run_id": run_id("report", 50)}).json()
    assert {run["job"]["name"] for run in found["nodes"]} == {"report", "load"}


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/lineage", {**ORDERS, "name": "no such"}, 404),
        ("/lineage/export", {**ORDERS, "name": "no such"}, 404),
        ("/lineage/columns", {"namespace": "shop", "name": "orders", "field": "no such"}, 404),
        ("/lineage/run", {"run_id": "no such"}, 404),
        ("/lineage", {**ORDERS, "kind": "column"}, 400),
        ("/lineage", {**ORDERS, "up": "-1"}, 400),
        ("/lineage", {**ORDERS, "limit": "100000"}, 400),
        ("/lineage", {"kind": "dataset"}, 400),
        ("/lineage/export", {**ORDERS, "format": "xml"}, 400),
    ],
)
def test_errors_say_what_to_do(client: TestClient, path: str, query: dict[str, str], status: int) -> None:
    response = client.get(f"{V1}{path}", params=query)
    assert response.status_code == status
    assert {"error", "message", "advice"} <= response.json().keys()


def test_an_empty_installation(tmp_path: Path) -> None:
    with client_of(tmp_path / "tables") as client:
        for path, query in (
            ("/lineage", ORDERS),
            ("/lineage/export", ORDERS),
            ("/lineage/columns", {**ORDERS, "field": "x"}),
            ("/lineage/run", {"run_id": "x"}),
        ):
            assert client.get(f"{V1}{path}", params=query).status_code == 404
