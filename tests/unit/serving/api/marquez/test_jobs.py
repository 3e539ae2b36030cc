"""Jobs, their versions, and their runs."""

import pytest

from tests.unit.serving.api.marquez.conftest import Api
from tests.unit.serving.api.marquez.world import DAILY, LOAD, ORDERS, PUBLISH, STREAM, run_id


def id_of(name: tuple[str, str]) -> dict[str, str]:
    return {"namespace": name[0], "name": name[1]}


def test_a_job(api: Api) -> None:
    job = api.get("/namespaces/{}/jobs/{}", *LOAD)
    assert job["id"] == id_of(LOAD)
    assert (job["name"], job["simpleName"], job["parentJobName"]) == ("dag.load_orders", "load_orders", "dag")
    assert (job["inputs"], job["outputs"]) == ([id_of(ORDERS)], [id_of(DAILY)])
    assert (job["type"], job["location"], job["description"]) == (
        "BATCH",
        "https://example.com/load.py",
        "Loads orders.",
    )
    assert (job["createdAt"], job["updatedAt"]) == ("2026-01-31T08:00:01Z", "2026-01-31T10:00:03.500000Z")
    assert job["facets"]["sql"]["query"] == "SELECT 1"
    assert [run["id"] for run in job["latestRuns"]] == [run_id(3), run_id(2), run_id(1)]
    assert job["latestRun"] == job["latestRuns"][0]
    assert job["tags"] == []


def test_a_job_without_runs_has_no_latest_runs(api: Api) -> None:
    """An empty list blanks the pages of Marquez (marquez#3115)."""
    job = api.get("/namespaces/{}/jobs/{}", "shop", "planned")
    assert "latestRuns" not in job
    assert (job["latestRun"], job["currentVersion"]) == (None, None)


def test_the_latest_change_comes_first(api: Api) -> None:
    listed = api.get("/jobs")
    assert [job["name"] for job in listed["jobs"]] == ["planned", STREAM[1], PUBLISH[1], LOAD[1]]
    assert listed["totalCount"] == 4
    assert api.get("/namespaces/{}/jobs", "shop") == listed
    assert api.get("/namespaces/{}/jobs", "none") == {"jobs": [], "totalCount": 0}


def test_pages(api: Api) -> None:
    names = [api.get("/jobs", limit=1, offset=offset)["jobs"][0]["name"] for offset in range(4)]
    assert names == [job["name"] for job in api.get("/jobs")["jobs"]]
    assert api.get("/jobs", limit=1, offset=4) == {"jobs": [], "totalCount": 4}
    assert api.get("/jobs", limit=0)["jobs"] == []


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("lastRunStates=FAILED", [LOAD[1]]),
        ("lastRunStates=RUNNING&lastRunStates=COMPLETED", [STREAM[1], PUBLISH[1]]),
        ("lastRunStates=running,failed", [STREAM[1], LOAD[1]]),
        ("lastRunStates=", ["planned", STREAM[1], PUBLISH[1], LOAD[1]]),
        ("lastRunStates=NEW", []),
    ],
)
def test_jobs_by_the_state_of_their_latest_run(api: Api, query: str, names: list[str]) -> None:
    answer = api.ask(f"/api/v1/jobs?{query}").json()
    assert [job["name"] for job in answer["jobs"]] == names
    assert answer["totalCount"] == len(names)


def test_versions_are_the_combinations_of_inputs_and_outputs(api: Api) -> None:
    answer = api.get("/namespaces/{}/jobs/{}/versions", *LOAD)
    [version] = answer["versions"]
    assert answer["totalCount"] == 1
    assert (version["inputs"], version["outputs"]) == ([id_of(ORDERS)], [id_of(DAILY)])
    assert version["latestRun"]["id"] == run_id(3)
    assert version["version"] == api.get("/namespaces/{}/jobs/{}", *LOAD)["currentVersion"]
    assert api.get("/namespaces/{}/jobs/{}/versions/{}", *LOAD, version["version"]) == version
    assert api.status("/namespaces/{}/jobs/{}/versions/{}", *LOAD, run_id(1)) == 404


def test_inputs_have_their_name_in_lineage(api: Api) -> None:
    assert api.get("/namespaces/{}/jobs/{}", *PUBLISH)["inputs"] == [id_of(DAILY)]
    [version] = api.get("/namespaces/{}/jobs/{}/versions", *PUBLISH)["versions"]
    assert version["inputs"] == [id_of(DAILY)]


def test_runs_of_a_job(api: Api) -> None:
    answer = api.get("/namespaces/{}/jobs/{}/runs", *LOAD, limit=2)
    assert ([run["id"] for run in answer["runs"]], answer["totalCount"]) == ([run_id(3), run_id(2)], 3)
    assert [run["state"] for run in answer["runs"]] == ["FAILED", "COMPLETED"]
    assert api.status("/namespaces/{}/jobs/{}/runs", "shop", "none") == 404


def test_a_run(api: Api) -> None:
    run = api.get("/jobs/runs/{}", run_id(2))
    assert (run["id"], run["state"], run["durationMs"]) == (run_id(2), "COMPLETED", 2500)
    assert (run["startedAt"], run["endedAt"]) == ("2026-01-31T09:00:01Z", "2026-01-31T09:00:03.500000Z")
    assert (run["nominalStartTime"], run["nominalEndTime"]) == ("2026-01-31T09:00:00Z", None)
    assert (run["args"], run["jobVersion"]["name"]) == ({}, LOAD[1])
    assert run["facets"]["parent"]["job"]["name"] == "dag"
    assert run["facets"]["big"] == {**run["facets"]["big"], "number": 2**70, "text": "\ud800"}
    [written] = run["outputDatasetVersions"]
    assert written["datasetVersionId"]["name"] == DAILY[1]
    assert api.get("/jobs/runs/{}", run_id(2).upper()) == run


def test_facets_of_a_run(api: Api) -> None:
    of_run = api.get("/jobs/runs/{}/facets", run_id(1), type="run")
    assert of_run["runId"] == run_id(1)
    assert of_run["facets"].keys() == {"parent", "nominalTime", "big"}
    assert api.get("/jobs/runs/{}/facets", run_id(1)) == of_run
    of_job = api.get("/jobs/runs/{}/facets", run_id(1), type="job")
    assert of_job["facets"]["sql"]["query"] == "SELECT 1"
    assert api.get("/jobs/runs/{}/facets", run_id(5), type="run") == {"runId": run_id(5), "facets": {}}


def test_an_open_run(api: Api) -> None:
    run = api.get("/jobs/runs/{}", run_id(5))
    assert (run["state"], run["endedAt"], run["durationMs"]) == ("RUNNING", None, None)


def test_the_runs_that_wrote_what_a_run_read(api: Api) -> None:
    runs = api.get("/runlineage/upstream", runId=run_id(4))["runs"]
    assert [one["run"]["id"] for one in runs] == [run_id(4), run_id(2)]  # the run before failed
    assert runs[0]["run"] == {
        "id": run_id(4),
        "start": "2026-01-31T11:00:00Z",
        "end": "2026-01-31T11:00:02Z",
        "status": "COMPLETED",
    }
    version = api.get("/namespaces/{}/datasets/{}", *DAILY)["currentVersion"]
    assert runs[0]["inputs"] == [{**id_of(DAILY), "version": version, "producedByRunId": run_id(2)}]
    assert runs[1]["inputs"] == [{**id_of(ORDERS), "version": None, "producedByRunId": None}]
    assert len(api.get("/runlineage/upstream", runId=run_id(4), depth=0)["runs"]) == 1
    assert api.ask("/api/v1/runlineage/upstream?runId=none").status_code == 404


@pytest.mark.parametrize("path", ["/jobs/runs/none", "/jobs/runs/none/facets", "/namespaces/shop/jobs/none"])
def test_what_does_not_exist(api: Api, path: str) -> None:
    response = api.ask(f"/api/v1{path}")
    assert response.status_code == 404
    assert response.json().keys() == {"code", "message", "details"}
    assert response.json()["message"].endswith("'none' not found.")
