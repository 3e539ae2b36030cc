"""What the pages of Marquez 0.51 read of each answer.

These facts are from reading its sources (`web/src` in its repository): the page itself is not published as a package.
"""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from lineproof.serving.open_tables import OpenTables
from tests.unit.serving.api.marquez.conftest import Api, marquez_app
from tests.unit.serving.api.marquez.shapes import COUNT, TIME, IfPresent, OrNull, faults, filled, one_of
from tests.unit.serving.api.marquez.world import DAILY, HOSTILE, LAKE, LOAD, run_id

STATE = one_of("NEW", "RUNNING", "COMPLETED", "FAILED", "ABORTED")
ID = {"namespace": str, "name": str}
RUN = {
    "id": str,
    "createdAt": TIME,
    "updatedAt": TIME,
    "nominalStartTime": OrNull(TIME),
    "nominalEndTime": OrNull(TIME),
    "state": STATE,
    "startedAt": OrNull(TIME),
    "endedAt": OrNull(TIME),
    "durationMs": OrNull(COUNT),
    "args": dict,
    "jobVersion": {**ID, "version": str},
    "facets": dict,
}
JOB = {
    "id": ID,
    "type": one_of("BATCH", "STREAM", "SERVICE"),
    "name": str,
    "simpleName": str,
    "namespace": str,
    "createdAt": TIME,
    "updatedAt": TIME,
    "inputs": [ID],
    "outputs": [ID],
    "location": OrNull(str),
    "description": OrNull(str),
    "parentJobName": OrNull(str),
    "tags": [str],
    "facets": dict,
    "latestRun": OrNull(RUN),
    "latestRuns": IfPresent(filled(RUN)),  # the dashboard reduces the list, which fails if it is empty (marquez#3115)
}
FIELD = {"name": str, "type": OrNull(str), "tags": [str], "description": OrNull(str)}
ASSERTIONS = {"assertions": [{"assertion": str, "success": bool}]}
FACETS = {"dataQualityAssertions": IfPresent(ASSERTIONS)}
INPUT_FIELD = {
    "namespace": str,
    "dataset": str,
    "field": str,
    "transformationType": OrNull(str),
    "transformationDescription": OrNull(str),
}
DATASET = {
    "id": ID,
    "type": one_of("DB_TABLE", "STREAM"),
    "name": str,
    "physicalName": str,
    "namespace": str,
    "sourceName": str,
    "createdAt": TIME,
    "updatedAt": TIME,
    "lastModifiedAt": OrNull(TIME),
    "description": OrNull(str),
    "fields": [FIELD],
    "tags": [str],
    "facets": FACETS,
    "deleted": bool,
    "columnLineage": OrNull(filled({"name": str, "inputFields": [INPUT_FIELD]})),
    "currentVersion": OrNull(str),
}
VERSION = {
    "id": {**ID, "version": str},
    "type": one_of("DB_TABLE", "STREAM"),
    "name": str,
    "version": str,
    "createdAt": TIME,
    "fields": [FIELD],
    "tags": [str],
    "description": OrNull(str),
    "lifecycleState": str,
    "facets": FACETS,
    "createdByRun": OrNull(RUN),
}
EDGE = {"origin": str, "destination": str}
EDGES = {"inEdges": [EDGE], "outEdges": [EDGE]}
COLUMN = {"namespace": str, "dataset": str, "field": str, "fieldType": str, "inputFields": [INPUT_FIELD]}
EVENT = {"eventType": str, "eventTime": str, "run": {"runId": str}, "job": ID}
INTERVAL = {"startInterval": TIME, "endInterval": TIME}
ZONE = quote("America/New_York", safe="")

NAMESPACE, DATASET_NAME = quote(LAKE, safe=""), quote(DAILY[1], safe="")
REQUESTS: dict[str, Any] = {
    "/namespaces": {
        "namespaces": [
            {"name": str, "createdAt": TIME, "updatedAt": TIME, "ownerName": str, "description": str, "isHidden": bool}
        ]
    },
    "/tags": {"tags": [{"name": str, "description": str}]},
    "/jobs?limit=10&offset=0": {"jobs": [JOB], "totalCount": COUNT},
    "/jobs?limit=10&offset=0&lastRunStates=FAILED": {"jobs": [JOB], "totalCount": COUNT},
    "/namespaces/shop/jobs?limit=20&offset=0": {"jobs": [JOB], "totalCount": COUNT},
    f"/namespaces/shop/jobs/{LOAD[1]}": JOB,
    f"/namespaces/shop/jobs/{LOAD[1]}/runs?limit=100&offset=0": {"runs": [RUN], "totalCount": COUNT},
    f"/jobs/runs/{run_id(1)}/facets?type=run": {"runId": str, "facets": dict},
    f"/jobs/runs/{run_id(1)}/facets?type=job": {"runId": str, "facets": dict},
    f"/namespaces/{NAMESPACE}/datasets?limit=20&offset=0": {"datasets": [DATASET], "totalCount": COUNT},
    f"/namespaces/{NAMESPACE}/datasets/{DATASET_NAME}": DATASET,
    # Without a version, the page of a dataset stays blank.
    f"/namespaces/{NAMESPACE}/datasets/{DATASET_NAME}/versions?limit=100&offset=0": {
        "versions": filled(VERSION),
        "totalCount": COUNT,
    },
    f"/column-lineage?nodeId=dataset:{NAMESPACE}:{DATASET_NAME}&depth=2&withDownstream=true": {
        "graph": [{"id": str, "type": str, "data": COLUMN, **EDGES}]
    },
    "/search/?q=orders&sort=NAME&limit=100": {
        "totalCount": COUNT,
        "results": [
            {"type": one_of("JOB", "DATASET"), "name": str, "namespace": str, "updatedAt": TIME, "nodeId": str}
        ],
    },
    "/events/lineage?limit=20&before=2026-02-01T00%3A00%3A00.000Z&after=2026-01-31T00%3A00%3A00.000Z"
    "&offset=0&sortDirection=desc": {"events": [EVENT], "totalCount": COUNT},
    f"/stats/lineage-events?period=DAY&timezone={ZONE}": [
        {**INTERVAL, "start": COUNT, "complete": COUNT, "fail": COUNT, "abort": COUNT}
    ],
    **{
        f"/stats/{asset}?period={period}&timezone={ZONE}": filled({**INTERVAL, "count": COUNT})
        for asset in ("jobs", "datasets", "sources")
        for period in ("DAY", "WEEK")
    },
}


@pytest.mark.parametrize("path", REQUESTS)
def test_the_answer_has_what_a_page_reads(api: Api, path: str) -> None:
    response = api.ask(f"/api/v1{path}")
    assert response.status_code == 200, response.text
    assert [*faults(response.json(), REQUESTS[path])] == []


def graph_faults(answer: dict[str, Any]) -> list[str]:
    """The pages draw every edge: one without its ends stops the layout."""
    ids = {node["id"] for node in answer["graph"]}
    found = [*faults(answer, {"graph": [{"id": str, "type": one_of("JOB", "DATASET"), "data": dict, **EDGES}]})]
    for node in answer["graph"]:
        data = {**DATASET, "facets": FACETS} if node["type"] == "DATASET" else {**JOB, "facets": dict}
        found += faults(node["data"], data, node["id"])
        ends = {end for edge in (*node["inEdges"], *node["outEdges"]) for end in edge.values()}
        found += [f"{node['id']} has an edge to {end}" for end in ends - ids]
    return found


@pytest.mark.parametrize("id_", [f"dataset:{LAKE}:{DAILY[1]}", f"job:shop:{LOAD[1]}"])
def test_the_graph_has_what_a_page_reads(api: Api, id_: str) -> None:
    answer = api.ask(f"/api/v1/lineage/?nodeId={id_}&depth=2").json()
    assert len(answer["graph"]) > 3
    assert graph_faults(answer) == []


def test_every_dataset_and_job_of_hostile_events(hostile_tables: Path) -> None:
    """Whatever events say, the answers have the same shape."""
    api = Api(marquez_app(hostile_tables))
    tables = OpenTables(str(hostile_tables)).now()
    names = tables.query("SELECT namespace, name FROM datasets").rows
    assert len(names) == 2 * len(HOSTILE)
    for name in names:
        dataset = api.get("/namespaces/{}/datasets/{}", *name)
        versions = api.get("/namespaces/{}/datasets/{}/versions", *name)
        assert [*faults(dataset, DATASET), *faults(versions["versions"], filled(VERSION))] == []
    assert [*faults(api.get("/jobs"), {"jobs": filled(JOB), "totalCount": COUNT})] == []


@pytest.mark.parametrize(
    ("value", "shape", "fault"),
    [
        ({}, {"a": str}, "$ has no a"),
        ({"a": None}, {"a": IfPresent(str)}, "$.a is no str: None"),
        ({"a": [{"b": 1}]}, {"a": [{"b": str}]}, "$.a[0].b is no str: 1"),
        ([], filled(str), "$ is no list that is not empty: []"),
        ("2026-01-31T10:00:00+00:00", TIME, "$ is no time with Z: 2026-01-31T10:00:00+00:00"),
        (True, COUNT, "$ is no count: True"),
        (None, [str], "$ is no list: None"),
        ("x", OrNull({"a": str}), "$ is no object: x"),
    ],
)
def test_faults_are_found(value: Any, shape: Any, fault: str) -> None:
    assert [*faults(value, shape)] == [fault]
