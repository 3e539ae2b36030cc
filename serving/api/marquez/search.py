"""`/search`: jobs and datasets by a part of their name."""

from collections.abc import Iterator
from datetime import datetime

from lineproof.serving.api.marquez.ask import MAX_LIMIT, Ask, Refusal
from lineproof.serving.api.marquez.dataset_index import KnownDataset, dataset_index
from lineproof.serving.api.marquez.datasets import dataset_details
from lineproof.serving.api.marquez.job_index import KnownJob, job_index
from lineproof.serving.api.marquez.jobs import job_documents
from lineproof.serving.api.marquez.values import Document, facets, known_time, time_text
from lineproof.serving.open_tables import TableSet

DEFAULT_LIMIT = 10
_SORTS = ("NAME", "UPDATE_AT", "UPDATED_AT")
_EVENT_TYPES = {"COMPLETED": "COMPLETE", "FAILED": "FAIL", "ABORTED": "ABORT", "RUNNING": "RUNNING"}

Named = KnownJob | KnownDataset


class NameIndex:
    """The names of all jobs and datasets in lower case."""

    def __init__(self, tables: TableSet) -> None:
        jobs = sorted(job_index(tables), key=lambda job: (job.name, job.namespace))
        datasets = sorted(dataset_index(tables).ordered, key=lambda dataset: (dataset.name, dataset.namespace))
        self.jobs: list[tuple[str, Named]] = [(job.name.lower(), job) for job in jobs]
        self.datasets: list[tuple[str, Named]] = [(dataset.name.lower(), dataset) for dataset in datasets]

    def matching(self, text: str, kind: str) -> Iterator[tuple[str, Named]]:
        """Those with the text in their name."""
        for name, named in (*(self.jobs if kind != "DATASET" else ()), *(self.datasets if kind != "JOB" else ())):
            if text in name:
                yield name, named


def search(ask: Ask) -> Document:
    """An exact match comes first, then names that begin with the text, each part in the order asked for."""
    found = _found(ask, ask.text("filter").upper())
    limit = ask.number("limit", DEFAULT_LIMIT, MAX_LIMIT)
    return {"totalCount": len(found), "results": [_result(named) for named in found[:limit]]}


def _found(ask: Ask, kind: str) -> list[Named]:
    if kind not in ("", "ALL", "JOB", "DATASET"):
        raise Refusal(400, "filter must be JOB or DATASET.", f"It was {kind[:50]!r}.")
    sort = ask.text("sort", "NAME").upper()
    if sort not in _SORTS:
        raise Refusal(400, "sort must be NAME or UPDATE_AT.", f"It was {sort[:50]!r}.")
    text, namespace = ask.text("q").strip().lower(), ask.text("namespace")
    before, after = ask.time("before"), ask.time("after")
    index = ask.tables.derived(
        "marquez names", ("jobs", "runs", "datasets", "dataset_nodes", "column_lineage"), NameIndex
    )
    found = [
        (name, named)
        for name, named in index.matching(text, kind)
        if (not namespace or named.namespace == namespace) and _is_between(named.updated_at, after, before)
    ]
    if sort == "NAME":
        found.sort(key=lambda one: (one[0] != text, not one[0].startswith(text), one[0]))
    else:
        found.sort(key=lambda one: known_time(one[1].updated_at), reverse=True)
    return [named for _, named in found]


def _is_between(moment: datetime | None, after: datetime | None, before: datetime | None) -> bool:
    if moment is None:
        return after is None and before is None
    return (after is None or moment > after) and (before is None or moment < before)


def _result(named: Named) -> Document:
    kind = "job" if isinstance(named, KnownJob) else "dataset"
    return {
        "type": kind.upper(),
        "name": named.name,
        "namespace": named.namespace,
        "updatedAt": known_time(named.updated_at, named.created_at),
        "nodeId": f"{kind}:{named.namespace}:{named.name}",
    }


def search_jobs(ask: Ask) -> Document:
    """`/api/v2beta/search/jobs`: the same names, in the form of Marquez's search engine."""
    found = [one for one in _found(ask, "JOB") if isinstance(one, KnownJob)][: _limit(ask)]
    documents = job_documents(ask.tables, found, with_facets=True)
    hits = [
        {
            "run_id": job.latest_run["run_id"] if job.latest_run else "",
            "name": job.name,
            "namespace": job.namespace,
            "eventType": _EVENT_TYPES.get(job.state or "", "START"),
            "type": document["type"],
            "facets": document["facets"],
            "runFacets": {},
        }
        for job, document in zip(found, documents, strict=True)
    ]
    return {"hits": hits, "highlights": [{"name": [job.name]} for job in found]}


def search_datasets(ask: Ask) -> Document:
    """`/api/v2beta/search/datasets`."""
    found = [one for one in _found(ask, "DATASET") if isinstance(one, KnownDataset)][: _limit(ask)]
    details = dataset_details(ask.tables, found, with_facets=True)
    hits = [
        {
            "run_id": "",
            "name": dataset.name,
            "namespace": dataset.namespace,
            "eventType": "COMPLETE",
            "updatedAt": time_text(dataset.updated_at),
            "facets": facets(stated.get("facets")),
        }
        for dataset, stated in zip(found, details, strict=True)
    ]
    return {"hits": hits, "highlights": [{"name": [dataset.name]} for dataset in found]}


def _limit(ask: Ask) -> int:
    return ask.number("limit", DEFAULT_LIMIT, MAX_LIMIT)
