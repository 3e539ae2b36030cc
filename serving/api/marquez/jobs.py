"""Jobs: lists of them, one of them, and its versions."""

from collections.abc import Sequence
from typing import Any

from lineproof.serving.api.marquez.ask import Ask, not_found
from lineproof.serving.api.marquez.job_index import BEGAN, RUN, JobIndex, KnownJob, job_index
from lineproof.serving.api.marquez.parts import written_parts
from lineproof.serving.api.marquez.runs import job_version, latest_runs, run_document
from lineproof.serving.api.marquez.values import (
    Document,
    Json,
    Name,
    facets,
    identities,
    identity,
    known_time,
    link,
    tag_names,
    version_id,
    written,
)
from lineproof.serving.lineage_graph import TABLES as GRAPH
from lineproof.serving.lineage_graph import Node, lineage_graph
from lineproof.serving.open_tables import TableSet

_TYPES = {"STREAMING": "STREAM", "SERVICE": "SERVICE"}
_DETAILS = """
SELECT namespace, name, description, tags, processing_type, source_code_url{facets}
FROM jobs
SEMI JOIN (SELECT unnest(?) AS namespace, unnest(?) AS name) USING (namespace, name)
"""
_VERSIONS = f"""
SELECT io_id, min(first_event_at) AS created_at, max(last_event_at) AS updated_at,
    arg_max({RUN}, row({BEGAN}, run_id)) AS run
FROM runs
WHERE job_namespace = ? AND job_name = ?
GROUP BY io_id
ORDER BY max(row({BEGAN}, run_id)) DESC
"""  # noqa: S608


def job_documents(tables: TableSet, known: Sequence[KnownJob], *, with_facets: bool) -> list[Document]:
    """Jobs with their latest run, inputs and outputs."""
    sql = _DETAILS.format(facets=", facets" if with_facets else "")
    rows = tables.rows(sql, [job.namespace for job in known], [job.name for job in known]) if known else []
    details = {(row["namespace"], row["name"]): row for row in rows}
    nodes = [Node("job", job.namespace, job.name) for job in known]
    return [
        {**_document(job, details.get((job.namespace, job.name), {})), "inputs": before, "outputs": after}
        for job, before, after in zip(known, *_neighbours(tables, nodes), strict=True)
    ]


def _neighbours(tables: TableSet, nodes: list[Node]) -> tuple[list[Json], list[Json]]:
    """Inputs and outputs."""
    graph = lineage_graph(tables)
    before = written_parts(
        tables, "inputs", GRAPH, nodes, lambda jobs: [written(identities(graph.before(job))) for job in jobs]
    )
    after = written_parts(
        tables, "outputs", GRAPH, nodes, lambda jobs: [written(identities(graph.after(job))) for job in jobs]
    )
    return before, after


def _document(job: KnownJob, details: dict[str, Any]) -> Document:
    name = (job.namespace, job.name)
    document = {
        "id": identity(*name),
        "type": _TYPES.get(details.get("processing_type") or "", "BATCH"),
        "name": job.name,
        "simpleName": _simple_name(job),
        "parentJobName": job.parent["job_name"] if job.parent else None,
        "parentJobUuid": None,
        "createdAt": known_time(job.created_at),
        "updatedAt": known_time(job.updated_at, job.created_at),
        "namespace": job.namespace,
        "location": link(details.get("source_code_url")),
        "description": details.get("description"),
        "tags": tag_names(details.get("tags")),
        "labels": [],
        "facets": facets(details.get("facets")),
        "currentVersion": None,
        "latestRun": None,
    }
    if job.parent:
        document["parentJobUuid"] = version_id("parent", job.parent["job_namespace"], job.parent["job_name"])
    if job.latest_run:
        document["latestRun"] = run_document(job.latest_run, name)
        document["currentVersion"] = job_version(name, job.latest_run["io_id"])
    return document


def _simple_name(job: KnownJob) -> str:
    """Airflow and others name a task DAG.TASK, and the DAG is its parent."""
    prefix = f"{job.parent['job_name']}." if job.parent else ""
    return job.name.removeprefix(prefix) or job.name


def _with_runs(ask: Ask, known: Sequence[KnownJob]) -> list[Document]:
    documents = job_documents(ask.tables, known, with_facets=True)
    runs = latest_runs(ask.tables, [(job.namespace, job.name) for job in known])
    for job, document in zip(known, documents, strict=True):
        of_job = runs.get((job.namespace, job.name))
        if of_job:  # pages break on an empty list
            document["latestRuns"] = of_job
    return documents


def jobs(ask: Ask) -> Document:
    """`/jobs` and `/namespaces/{ns}/jobs`."""
    states = [state.strip().upper() for text in ask.texts("lastRunStates") for state in text.split(",")]
    known = job_index(ask.tables).listed(ask.names[0] if ask.names else None, states)
    return {"jobs": _with_runs(ask, known[ask.page]), "totalCount": len(known)}


def job(ask: Ask) -> Document:
    """`/namespaces/{ns}/jobs/{job}`."""
    [document] = _with_runs(ask, [_known(ask, job_index(ask.tables))])
    return document


def job_versions(ask: Ask) -> Document:
    """`/namespaces/{ns}/jobs/{job}/versions`: one for each combination of inputs and outputs, the latest first."""
    versions = _versions(ask)
    return {"versions": versions[ask.page], "totalCount": len(versions)}


def one_job_version(ask: Ask) -> Document:
    """`/namespaces/{ns}/jobs/{job}/versions/{v}`."""
    for version in _versions(ask):
        if version["version"] == ask.names[2].lower():
            return version
    raise not_found(f"Version '{ask.names[2]}' of job '{ask.names[1]}'")


def _versions(ask: Ask) -> list[Document]:
    known = _known(ask, job_index(ask.tables))
    name = (known.namespace, known.name)
    [document] = job_documents(ask.tables, [known], with_facets=False)
    rows = ask.tables.rows(_VERSIONS, *name)
    sides = _sides(ask.tables, [row["io_id"] for row in rows])
    return [
        {
            "id": {**identity(*name), "version": job_version(name, row["io_id"])},
            "name": known.name,
            "namespace": known.namespace,
            "type": document["type"],
            "version": job_version(name, row["io_id"]),
            "createdAt": known_time(row["created_at"]),
            "updatedAt": known_time(row["updated_at"], row["created_at"]),
            "location": document["location"],
            "context": {},
            **dict(zip(("inputs", "outputs"), sides.get(row["io_id"], ([], [])), strict=True)),
            "latestRun": run_document(row["run"], name),
        }
        for row in rows
    ]


def _sides(tables: TableSet, io_ids: Sequence[str | None]) -> dict[str | None, tuple[list[Document], list[Document]]]:
    rows = tables.query(
        "SELECT io_id, inputs, outputs FROM job_io SEMI JOIN (SELECT unnest(?) AS io_id) USING (io_id)",
        [io_id for io_id in io_ids if io_id],
    ).rows
    graph = lineage_graph(tables)

    def resolved(stated: list[dict[str, str]] | None) -> list[Document]:
        return identities({graph.node("dataset", one["namespace"], one["name"]) for one in stated or ()})

    return {row[0]: (resolved(row[1]), resolved(row[2])) for row in rows}


def _known(ask: Ask, index: JobIndex) -> KnownJob:
    name: Name = (ask.names[0], ask.names[1])
    found = index.by_name.get(name)
    if found is None:
        raise not_found(f"Job '{name[1]}'")
    return found
