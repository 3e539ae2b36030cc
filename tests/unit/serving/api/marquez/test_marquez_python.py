"""`marquez-python` as it is published, against a real server: every method that reads."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from marquez_client import MarquezClient
from marquez_client.errors import APIError

from tests.unit.serving.api.marquez.conftest import marquez_app
from tests.unit.serving.api.marquez.world import ALIAS, DAILY, DATABASE, HOSTILE, LAKE, LOAD, ORDERS, run_id


def served(app: FastAPI) -> Iterator[str]:
    """The address of the application, until the test ends."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        deadline = time.monotonic() + 20
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.started
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def client(marquez_tables: Path) -> Iterator[Any]:
    for url in served(marquez_app(marquez_tables)):
        yield MarquezClient(url=url)


@pytest.fixture(scope="module")
def hostile(hostile_tables: Path) -> Iterator[Any]:
    for url in served(marquez_app(hostile_tables)):
        yield MarquezClient(url=url)


def test_namespaces(client: Any) -> None:
    assert [one["name"] for one in client.list_namespaces(limit=2)["namespaces"]] == [DATABASE, LAKE]
    assert client.get_namespace(LAKE)["name"] == LAKE


def test_sources(client: Any) -> None:
    assert len(client.list_sources()["sources"]) == 3
    assert client.get_source("shop database")["connectionUrl"] == DATABASE


def test_datasets(client: Any) -> None:
    assert client.list_datasets(LAKE, limit=1)["totalCount"] == 4
    assert client.get_dataset(*ORDERS)["fields"][1]["tags"] == ["level:3"]
    assert client.get_dataset(*ALIAS)["name"] == DAILY[1]


def test_dataset_versions(client: Any) -> None:
    versions = client.list_dataset_versions(*DAILY, limit=1)["versions"]
    assert client.get_dataset_version(*DAILY, versions[0]["version"]) == versions[0]


def test_jobs_and_runs(client: Any) -> None:
    assert client.list_jobs("shop", offset=3)["jobs"][0]["name"] == LOAD[1]
    assert client.get_job(*LOAD)["latestRun"]["id"] == run_id(3)
    [run] = client.list_job_runs(*LOAD, limit=1)["runs"]
    assert run["state"] == "FAILED"
    assert client.get_job_run(run_id(3))["facets"].keys() == {"parent", "nominalTime", "big"}


def test_column_lineage(client: Any) -> None:
    of_dataset = client.get_column_lineage_by_dataset(*DAILY, with_downstream=True)
    assert len(of_dataset["graph"]) == 3
    of_field = client.get_column_lineage_by_dataset_field(*DAILY, "total", depth=1)
    assert len(of_field["graph"]) == 2
    assert client.get_column_lineage_by_job(*LOAD) == client.get_column_lineage_by_dataset(*DAILY)
    version = client.get_dataset(*DAILY)["currentVersion"]
    assert client.get_column_lineage_by_dataset(*DAILY, with_downstream=True, version=version) == of_dataset


def test_events_and_tags(client: Any) -> None:
    assert client.list_events(limit=1)["totalCount"] == 9
    assert client.list_events(namespace="shop")["totalCount"] == 9
    assert [tag["name"] for tag in client.list_tags()["tags"]] == ["level:3", "pii"]


def test_what_does_not_exist_and_what_writes(client: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: client.get_job("shop", "none"),
        lambda: client.get_job_run(run_id(99)),
        lambda: client.create_namespace("new", "owner"),
        lambda: client.create_tag("new"),
        lambda: client.tag_dataset(*DAILY, "new"),
    ]
    for call in calls:
        with pytest.raises(APIError):
            call()


@pytest.mark.parametrize("name", [name for name in HOSTILE if len(name) < 255], ids=range(len(HOSTILE) - 1))
def test_hostile_names(hostile: Any, name: str) -> None:
    """The client refuses names of more than 255 characters itself."""
    assert hostile.get_namespace(name)["name"] == name
    assert hostile.get_job(name, name)["name"] == name
    assert hostile.get_dataset(name, name)["id"] == {"namespace": name, "name": name}
    assert hostile.list_job_runs(name, name)["totalCount"] == 1
    graph = hostile.get_column_lineage_by_dataset_field(name, name, name)["graph"]
    assert [node["data"]["field"] for node in graph] == [name, name]
