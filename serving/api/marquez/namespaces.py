"""Namespaces: those of jobs and datasets."""

from datetime import datetime

from lineproof.serving.api.marquez.ask import Ask, not_found
from lineproof.serving.api.marquez.dataset_index import dataset_index
from lineproof.serving.api.marquez.job_index import job_index
from lineproof.serving.api.marquez.values import Document, known_time
from lineproof.serving.open_tables import TableSet

OWNER = "anonymous"
"""OpenLineage knows no owners of namespaces. Marquez says this for them."""

Times = tuple[datetime | None, datetime | None]


def _namespaces(tables: TableSet) -> dict[str, Times]:
    """The namespaces by name, with their earliest and latest time."""

    def build(current: TableSet) -> dict[str, Times]:
        found: dict[str, list[datetime | None]] = {}
        for one in (*job_index(current), *dataset_index(current).ordered):
            found.setdefault(one.namespace, []).extend((one.created_at, one.updated_at))
        return {name: _ends(found[name]) for name in sorted(found)}

    tables_of_both = ("jobs", "runs", "datasets", "dataset_nodes", "column_lineage")
    return tables.derived("marquez namespaces", tables_of_both, build)


def _ends(times: list[datetime | None]) -> Times:
    known = [moment for moment in times if moment is not None]
    return min(known, default=None), max(known, default=None)


def namespaces(ask: Ask) -> Document:
    """`/namespaces`."""
    found = [*_namespaces(ask.tables).items()]
    return {"namespaces": [_document(name, times) for name, times in found[ask.page]]}


def namespace(ask: Ask) -> Document:
    """`/namespaces/{ns}`."""
    [name] = ask.names
    times = _namespaces(ask.tables).get(name)
    if times is None:
        raise not_found(f"Namespace '{name}'")
    return _document(name, times)


def _document(name: str, times: Times) -> Document:
    return {
        "name": name,
        "createdAt": known_time(*times),
        "updatedAt": known_time(*reversed(times)),
        "ownerName": OWNER,
        "description": "",
        "isHidden": False,
    }
