"""The graphs of jobs and datasets, and of columns."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.unit.serving.api.marquez.conftest import Api
from tests.unit.serving.api.marquez.world import ALIAS, DAILY, DATABASE, LAKE, LOAD, ORDERS, PUBLISH, REPORT

JOB = "job:shop:dag.load_orders"
DATASETS = [f"dataset:{DATABASE}:shop.public.orders", f"dataset:{LAKE}:orders/daily", f"dataset:{LAKE}:report"]
FIELDS = [
    f"datasetField:{DATABASE}:shop.public.orders:amount",
    f"datasetField:{LAKE}:orders/daily:total",
    f"datasetField:{LAKE}:report:sum",
]


def ids(answer: dict[str, Any]) -> set[str]:
    return {node["id"] for node in answer["graph"]}


def assert_is_consistent(answer: dict[str, Any]) -> None:
    """Every edge leads to a node of the graph, and both of its ends know it."""
    nodes = {node["id"]: node for node in answer["graph"]}
    assert len(nodes) == len(answer["graph"])
    for id_, node in nodes.items():
        for edge in node["inEdges"]:
            assert edge["destination"] == id_
            assert edge in nodes[edge["origin"]]["outEdges"]
        for edge in node["outEdges"]:
            assert edge["origin"] == id_
            assert edge in nodes[edge["destination"]]["inEdges"]


@pytest.mark.parametrize("name", [DAILY, ALIAS])
def test_lineage_of_a_dataset(api: Api, name: tuple[str, str]) -> None:
    answer = api.get("/lineage", nodeId=f"dataset:{name[0]}:{name[1]}")
    assert_is_consistent(answer)
    assert ids(answer) == {JOB, "job:shop:publish", "job:shop:planned", f"dataset:{LAKE}:planned", *DATASETS}
    assert answer["graph"][0]["id"] == DATASETS[1]
    for node in answer["graph"]:
        assert node["type"] == node["id"].partition(":")[0].upper()
        assert isinstance(node["data"]["tags"], list)


def test_depth_is_counted_in_jobs(api: Api) -> None:
    assert ids(api.get("/lineage", nodeId=DATASETS[0], depth=0)) == {DATASETS[0]}
    assert ids(api.get("/lineage", nodeId=DATASETS[0], depth=1)) == {DATASETS[0], JOB, DATASETS[1]}
    assert ids(api.get("/lineage", nodeId=JOB, depth=0)) == {JOB, DATASETS[0], DATASETS[1]}
    of_job = ids(api.get("/lineage", nodeId=JOB, depth=1))
    assert of_job == {JOB, *DATASETS, "job:shop:publish"}


def test_the_nodes_have_what_pages_show(api: Api) -> None:
    nodes = {node["id"]: node["data"] for node in api.get("/lineage", nodeId=JOB)["graph"]}
    assert nodes[JOB]["latestRun"]["state"] == "FAILED"
    assert [field["name"] for field in nodes[DATASETS[1]]["fields"]] == ["total", "currency"]
    assert len(nodes[DATASETS[1]]["facets"]["dataQualityAssertions"]["assertions"]) == 2


def test_a_slash_at_the_end_and_an_id_that_is_not_encoded(api: Api) -> None:
    expected = api.get("/lineage", nodeId=DATASETS[1])
    assert api.ask(f"/api/v1/lineage/?nodeId={DATASETS[1]}&depth=20").json() == expected


def test_an_id_that_is_encoded_twice(api: Api) -> None:
    twice = quote(quote(FIELDS[1].replace("datasetField", "dataset").removesuffix(":total"), safe=":"), safe="")
    assert ids(api.ask(f"/api/v1/column-lineage?nodeId={twice}").json()) == {*FIELDS[:2]}


def test_a_node_without_edges(api: Api) -> None:
    [node] = api.get("/lineage", nodeId=f"dataset:{LAKE}:topic")["graph"]
    assert (node["inEdges"], node["outEdges"]) == ([], [])


@pytest.mark.parametrize(
    ("id_", "status"),
    [("dataset:a:b", 404), ("job:shop", 404), ("", 400), ("run:1", 400), ("shop:publish", 400), ("dataset:", 404)],
)
def test_unknown_nodes(api: Api, id_: str, status: int) -> None:
    for path in ("lineage", "column-lineage"):
        response = api.ask(f"/api/v1/{path}?nodeId={id_}")
        assert response.status_code == status, response.text
        assert response.json()["code"] == status


def test_column_lineage_of_a_dataset(api: Api) -> None:
    upstream = api.get("/column-lineage", nodeId=f"dataset:{DAILY[0]}:{DAILY[1]}")
    assert ids(upstream) == {*FIELDS[:2]}
    both = api.get("/column-lineage", nodeId=f"dataset:{DAILY[0]}:{DAILY[1]}", withDownstream="true")
    assert ids(both) == {*FIELDS}
    assert both["graph"][0]["data"] == {
        "namespace": LAKE,
        "dataset": "orders/daily",
        "datasetVersion": None,
        "field": "total",
        "fieldType": "bigint",
        "transformationDescription": None,
        "transformationType": None,
        "inputFields": [
            {
                "namespace": DATABASE,
                "dataset": "shop.public.orders",
                "datasetVersion": None,
                "field": "amount",
                "transformationDescription": "sum",
                "transformationType": "AGGREGATION",
            }
        ],
    }


def test_the_origin_of_an_edge_is_the_node_itself(api: Api) -> None:
    """Also of those that lead to it: pages rely on it."""
    answer = api.get("/column-lineage", nodeId=FIELDS[1], withDownstream="True")
    nodes = {node["id"]: node for node in answer["graph"]}
    assert nodes[FIELDS[1]]["inEdges"] == [{"origin": FIELDS[1], "destination": FIELDS[0]}]
    assert nodes[FIELDS[1]]["outEdges"] == [{"origin": FIELDS[1], "destination": FIELDS[2]}]
    for node in answer["graph"]:
        for edge in (*node["inEdges"], *node["outEdges"]):
            assert edge["origin"] == node["id"]
            assert edge["destination"] in nodes


@pytest.mark.parametrize(
    ("id_", "depth", "found"),
    [
        (FIELDS[2], 1, {FIELDS[2], FIELDS[1]}),
        (FIELDS[2], 0, {FIELDS[2]}),
        (f"datasetField:{ALIAS[0]}:{ALIAS[1]}:total", 20, {FIELDS[1], FIELDS[0]}),
        (f"job:{LOAD[0]}:{LOAD[1]}", 20, {FIELDS[1], FIELDS[0]}),
        (f"job:{PUBLISH[0]}:{PUBLISH[1]}", 20, {*FIELDS}),
        (f"dataset:{REPORT[0]}:{REPORT[1]}#00000000-0000-0000-0000-000000000000", 20, {*FIELDS}),
        (f"dataset:{LAKE}:topic", 20, set()),
        (f"datasetField:{ORDERS[0]}:{ORDERS[1]}:id", 20, set()),
    ],
)
def test_column_lineage_by_id_and_depth(api: Api, id_: str, depth: int, found: set[str]) -> None:
    assert ids(api.get("/column-lineage", nodeId=id_, depth=depth)) == found
