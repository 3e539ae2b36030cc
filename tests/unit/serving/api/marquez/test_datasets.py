"""Datasets, their versions, and the lists around them."""

from tests.unit.serving.api.marquez.conftest import Api
from tests.unit.serving.api.marquez.world import ALIAS, DAILY, DATABASE, LAKE, ORDERS, REPORT, run_id


def names(answer: dict[str, list[dict[str, str]]], key: str) -> list[str]:
    return [one["name"] for one in answer[key]]


def test_a_dataset(api: Api) -> None:
    dataset = api.get("/namespaces/{}/datasets/{}", *ORDERS)
    assert dataset["id"] == {"namespace": ORDERS[0], "name": ORDERS[1]}
    assert (dataset["type"], dataset["physicalName"], dataset["sourceName"]) == ("DB_TABLE", ORDERS[1], "shop database")
    assert dataset["description"] == "One row per order."
    assert dataset["tags"] == ["pii"]
    assert [(field["name"], field["type"], field["tags"], field["description"]) for field in dataset["fields"]] == [
        ("id", "bigint", [], "the id"),
        ("amount", "bigint", ["level:3"], "the amount"),
    ]
    assert (dataset["deleted"], dataset["columnLineage"], dataset["lastModifiedAt"]) == (False, None, None)
    assert dataset["createdAt"] <= dataset["updatedAt"]
    assert dataset["facets"]["schema"]["fields"][0]["name"] == "id"


def test_a_dataset_that_a_run_writes(api: Api) -> None:
    dataset = api.get("/namespaces/{}/datasets/{}", *DAILY)
    assert dataset["lastModifiedAt"] == "2026-01-31T09:00:03.500000Z"
    [column] = dataset["columnLineage"]
    [source] = column["inputFields"]
    assert (column["name"], source["dataset"], source["field"]) == ("total", ORDERS[1], "amount")
    assert (source["transformationType"], source["transformationDescription"]) == ("AGGREGATION", "sum")
    results = dataset["facets"]["dataQualityAssertions"]["assertions"]
    assert [(one["assertion"], one["success"]) for one in results] == [("not_null", True), ("row_count", False)]


def test_a_dataset_is_shown_by_its_name_in_lineage(api: Api) -> None:
    assert api.get("/namespaces/{}/datasets/{}", *ALIAS) == api.get("/namespaces/{}/datasets/{}", *DAILY)
    assert names(api.get("/namespaces/{}/datasets", LAKE), "datasets") == ["orders/daily", "planned", "report", "topic"]
    assert api.get("/namespaces/{}/datasets", ALIAS[0]) == {"datasets": [], "totalCount": 0}
    facets = api.get("/namespaces/{}/datasets/{}", *DAILY)["facets"]
    assert facets["ownership"]["owners"][0]["name"] == "team"  # only events about the other name state it


def test_pages_of_datasets(api: Api) -> None:
    page = api.get("/namespaces/{}/datasets", LAKE, limit=2, offset=1)
    assert (names(page, "datasets"), page["totalCount"]) == (["planned", "report"], 4)


def test_streams(api: Api) -> None:
    assert api.get("/namespaces/{}/datasets/{}", LAKE, "topic")["type"] == "STREAM"


def test_each_load_is_a_version(api: Api) -> None:
    answer = api.get("/namespaces/{}/datasets/{}/versions", *DAILY)
    versions = answer["versions"]
    assert answer["totalCount"] == len(versions) == 2
    assert [version["createdByRun"]["id"] for version in versions] == [run_id(2), run_id(1)]
    assert [[field["name"] for field in version["fields"]] for version in versions] == [
        ["total", "currency"],
        ["total"],
    ]
    assert "dataQualityAssertions" in versions[0]["facets"]
    assert versions[1]["facets"]["schema"]["fields"][0]["name"] == "total"
    assert versions[0]["version"] == api.get("/namespaces/{}/datasets/{}", *DAILY)["currentVersion"]
    for version in versions:
        assert api.get("/namespaces/{}/datasets/{}/versions/{}", *DAILY, version["version"]) == version
    written = api.get("/jobs/runs/{}", run_id(1))["outputDatasetVersions"]
    assert [one["datasetVersionId"]["version"] for one in written] == [versions[1]["version"]]


def test_pages_of_versions(api: Api) -> None:
    whole = api.get("/namespaces/{}/datasets/{}/versions", *DAILY)
    parts = [api.get("/namespaces/{}/datasets/{}/versions", *DAILY, limit=1, offset=offset) for offset in range(3)]
    assert [part["versions"] for part in parts] == [whole["versions"][:1], whole["versions"][1:], []]
    assert {part["totalCount"] for part in parts} == {2}


def test_a_schema_without_a_load_is_a_version(api: Api) -> None:
    [version] = api.get("/namespaces/{}/datasets/{}/versions", *ORDERS)["versions"]
    assert (version["createdByRun"], version["createdAt"]) == (None, "2026-01-31T08:00:01Z")
    assert [field["name"] for field in version["fields"]] == ["id", "amount"]


def test_every_dataset_has_a_version(api: Api) -> None:
    """A page stays blank without one."""
    for name in ("planned", "topic"):
        [version] = api.get("/namespaces/{}/datasets/{}/versions", LAKE, name)["versions"]
        assert (version["fields"], version["createdByRun"], version["tags"]) == ([], None, [])
        assert version["version"] == api.get("/namespaces/{}/datasets/{}", LAKE, name)["currentVersion"]


def test_what_does_not_exist(api: Api) -> None:
    for path in ("/datasets/none", "/datasets/none/versions", "/datasets/report/versions/none"):
        assert api.status(f"/namespaces/{{}}{path}", LAKE) == 404


def test_namespaces(api: Api) -> None:
    found = api.get("/namespaces")["namespaces"]
    assert [one["name"] for one in found] == [DATABASE, LAKE, "shop"]
    for one in found:
        assert api.get("/namespaces/{}", one["name"]) == one
        assert (one["ownerName"], one["description"], one["isHidden"]) == ("anonymous", "", False)
        assert one["createdAt"] <= one["updatedAt"]
    assert names(api.get("/namespaces", limit=1, offset=1), "namespaces") == [LAKE]
    assert api.status("/namespaces/{}", "none") == 404


def test_tags(api: Api) -> None:
    assert api.get("/tags") == {"tags": [{"name": "level:3", "description": ""}, {"name": "pii", "description": ""}]}


def test_sources(api: Api) -> None:
    found = api.get("/sources")["sources"]
    assert [(one["name"], one["type"], one["connectionUrl"]) for one in found] == [
        (ALIAS[0], "HIVE", ALIAS[0]),
        (LAKE, "S3", LAKE),
        ("shop database", "POSTGRES", DATABASE),
    ]
    for one in found:
        assert api.get("/sources/{}", one["name"]) == one
    assert api.status("/sources/{}", "none") == 404
    for name in (ORDERS, DAILY, REPORT):
        assert api.status("/sources/{}", api.get("/namespaces/{}/datasets/{}", *name)["sourceName"]) == 200
