"""`/runlineage/upstream`: the runs that wrote what a run read, and so on."""

from typing import Any

from lineproof.serving.answers.combinations import combinations
from lineproof.serving.answers.run_lineage import run_lineage
from lineproof.serving.api.marquez.ask import Ask, not_found
from lineproof.serving.api.marquez.runs import job_version, load_version, stated_id
from lineproof.serving.api.marquez.values import Document, Name, identity, time_text

DEFAULT_DEPTH, MAX_DEPTH = 10, 100
_RUNS = """
SELECT run_id, job_namespace, job_name, state, started_at, ended_at, io_id, inputs
FROM runs
SEMI JOIN (SELECT unnest(?) AS run_id) USING (run_id)
"""


def upstream(ask: Ask) -> Document:
    """The nearest run first. A dataset that no known run wrote before has no `producedByRunId`."""
    run_id = stated_id(ask.text("runId"))
    depth = ask.number("depth", DEFAULT_DEPTH, MAX_DEPTH)
    found = run_lineage(ask.tables, run_id, up=depth, down=0)
    if found is None:
        raise not_found(f"Run '{run_id}'")
    producers: dict[tuple[str, Name], str] = {
        (edge.target_run, (edge.dataset.namespace, edge.dataset.name)): edge.source_run for edge in found.edges
    }
    nearest = sorted(found.nodes, key=lambda node: (-node.depth, node.run_id))
    rows = {row["run_id"]: row for row in ask.tables.rows(_RUNS, [node.run_id for node in nearest])}
    names = combinations(ask.tables)

    def inputs(row: dict[str, Any]) -> list[Document]:
        datasets = dict.fromkeys(names.node(one["namespace"], one["name"]) for one in row["inputs"] or ())
        return [_input(dataset, producers.get((row["run_id"], dataset))) for dataset in datasets]

    return {"runs": [_run(rows[node.run_id], inputs(rows[node.run_id])) for node in nearest]}


def _input(dataset: Name, producer: str | None) -> Document:
    version = load_version(dataset, producer) if producer else None
    return {**identity(*dataset), "version": version, "producedByRunId": producer}


def _run(row: dict[str, Any], inputs: list[Document]) -> Document:
    job = (row["job_namespace"], row["job_name"])
    return {
        "job": {**identity(*job), "version": job_version(job, row["io_id"])},
        "run": {
            "id": row["run_id"],
            "start": time_text(row["started_at"]),
            "end": time_text(row["ended_at"]),
            "status": row["state"],
        },
        "inputs": inputs,
    }
