"""Runs: `/jobs/runs/{id}`, its facets, and the runs of a job."""

from collections.abc import Sequence
from typing import Any

from lineproof.serving.answers.run_facets import run_facets
from lineproof.serving.api.marquez.ask import Ask, Refusal, not_found
from lineproof.serving.api.marquez.job_index import BEGAN, RUN, job_index
from lineproof.serving.api.marquez.values import Document, Name, identity, known_time, time_text, version_id
from lineproof.serving.open_tables import TableSet

SHOWN = 10
"""So many of its latest runs come with a job."""

_ONE = f"SELECT job_namespace, job_name, inputs, outputs, {RUN} AS run FROM runs WHERE run_id = ?"  # noqa: S608
_OF_JOB = f"""
SELECT {RUN} AS run
FROM runs
WHERE job_namespace = ? AND job_name = ?
ORDER BY {BEGAN} DESC, run_id DESC
LIMIT ? OFFSET ?
"""  # noqa: S608
# First the time of the tenth latest run of each job, from few columns: a third of the time that ranking all runs took.
_LATEST = f"""
WITH page AS (SELECT unnest(?) AS job_namespace, unnest(?) AS job_name),
bounds AS (
    SELECT job_namespace, job_name, list_min(max({BEGAN}, {SHOWN})) AS since
    FROM runs
    SEMI JOIN page USING (job_namespace, job_name)
    GROUP BY job_namespace, job_name
)
SELECT job_namespace, job_name, {RUN} AS run
FROM runs
JOIN bounds USING (job_namespace, job_name)
WHERE {BEGAN} >= since
"""  # noqa: S608


def run_document(run: dict[str, Any], job: Name) -> Document:
    """A run in a list. Its facets are at `/jobs/runs/{id}/facets`."""
    nominal = run["nominal"] or {}
    return {
        "id": run["run_id"],
        "createdAt": known_time(run["first_event_at"], run["started_at"], run["ended_at"]),
        "updatedAt": known_time(run["last_event_at"], run["ended_at"], run["started_at"]),
        "nominalStartTime": time_text(nominal.get("start_at")),
        "nominalEndTime": time_text(nominal.get("end_at")),
        "state": run["state"],
        "startedAt": time_text(run["started_at"]),
        "endedAt": time_text(run["ended_at"]),
        "durationMs": run["duration_ms"],
        "args": {},
        "jobVersion": {**identity(*job), "version": job_version(job, run["io_id"])},
        "inputDatasetVersions": [],
        "outputDatasetVersions": [],
        "facets": {},
    }


def job_version(job: Name, io_id: str | None) -> str:
    """A job has a version for each combination of inputs and outputs."""
    return version_id("job", *job, io_id)


def load_version(dataset: Name, run_id: str | None) -> str:
    """A dataset has a version for each run that wrote it."""
    return version_id("dataset", *dataset, run_id)


def run(ask: Ask) -> Document:
    """`/jobs/runs/{id}`: with its facets and the versions that it wrote."""
    found = ask.tables.row(_ONE, _id(ask))
    if found is None:
        raise not_found(f"Run '{_id(ask)}'")
    document = run_document(found["run"], (found["job_namespace"], found["job_name"]))
    facets = run_facets(ask.tables, _id(ask))
    written = [(one["namespace"], one["name"]) for one in found["outputs"] or ()]
    document["outputDatasetVersions"] = [
        {
            "datasetVersionId": {**identity(*dataset), "version": load_version(dataset, found["run"]["run_id"])},
            "facets": {},
        }
        for dataset in written
    ]
    return {**document, "facets": facets.run if facets else {}}


def facets_of_run(ask: Ask) -> Document:
    """`/jobs/runs/{id}/facets?type=run|job`."""
    kind = ask.text("type", "run").lower()
    if kind not in ("run", "job"):
        raise Refusal(400, "type must be run or job.", f"It was {kind[:50]!r}.")
    facets = run_facets(ask.tables, _id(ask))
    if facets is None:
        raise not_found(f"Run '{_id(ask)}'")
    return {"runId": _id(ask), "facets": facets.run if kind == "run" else facets.job}


def runs_of_job(ask: Ask) -> Document:
    """`/namespaces/{ns}/jobs/{job}/runs`: the latest first."""
    job = (ask.names[0], ask.names[1])
    if job not in job_index(ask.tables).by_name:
        raise not_found(f"Job '{job[1]}'")
    rows = ask.tables.query(_OF_JOB, *job, ask.limit, ask.offset).rows
    count = ask.tables.scalar("SELECT count(*) FROM runs WHERE job_namespace = ? AND job_name = ?", *job)
    return {"runs": [run_document(row[0], job) for row in rows], "totalCount": count}


def latest_runs(tables: TableSet, jobs: Sequence[Name]) -> dict[Name, list[Document]]:
    """The latest runs of some jobs, the latest first."""
    if not jobs:
        return {}
    found: dict[Name, list[dict[str, Any]]] = {}
    for namespace, name, one in tables.query(_LATEST, [job[0] for job in jobs], [job[1] for job in jobs]).rows:
        found.setdefault((namespace, name), []).append(one)
    return {
        job: [run_document(one, job) for one in sorted(ones, key=_began, reverse=True)[:SHOWN]]
        for job, ones in found.items()
    }


def _began(one: dict[str, Any]) -> tuple[str, str]:
    return known_time(one["started_at"], one["first_event_at"]), one["run_id"]


def _id(ask: Ask) -> str:
    return stated_id(ask.names[0])


def stated_id(given: str) -> str:
    """UUIDs are in lower case in the tables; other ids of runs are as they are."""
    return given.lower() if len(given) == 36 and given.count("-") == 4 else given
