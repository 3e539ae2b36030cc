"""Datasets: lists of them, and one of them."""

from collections.abc import Sequence
from typing import Any

from lineproof.serving.answers.facets import parsed
from lineproof.serving.api.marquez.ask import Ask, not_found
from lineproof.serving.api.marquez.column_graph import column_graph
from lineproof.serving.api.marquez.dataset_index import KnownDataset, dataset_index
from lineproof.serving.api.marquez.values import (
    Document,
    Name,
    facets,
    identity,
    known_time,
    tag_names,
)
from lineproof.serving.open_tables import TableSet

_STREAMS = ("TOPIC", "STREAM")
_DETAILS = """
SELECT namespace, name, description, tags, fields, dataset_type, source_uri, lifecycle_state, tests, last_seen_at,
    {facets} AS facets
FROM datasets
SEMI JOIN (SELECT unnest(?) AS namespace, unnest(?) AS name) USING (namespace, name)
"""
_ALL_FACETS = "facets"
_SOURCE_ONLY = "list_filter(facets, lambda one: one.name = 'dataSource')"
_MERGED = ("description", "fields", "dataset_type", "source_uri", "lifecycle_state", "tests")


def dataset_documents(tables: TableSet, known: Sequence[KnownDataset], *, with_facets: bool) -> list[Document]:
    """Datasets as Marquez's lists have them. Without facets, those that say nothing but results of tests."""
    details = dataset_details(tables, known, with_facets=with_facets)
    documents = [_document(one, stated, with_facets) for one, stated in zip(known, details, strict=True)]
    if with_facets:
        columns = column_graph(tables)
        for one, document in zip(known, documents, strict=True):
            # Null, not an empty list: pages have a link to the columns unless it is null.
            document["columnLineage"] = columns.of_dataset(one.namespace, one.name) or None
    return documents


def dataset_details(tables: TableSet, known: Sequence[KnownDataset], *, with_facets: bool) -> list[dict[str, Any]]:
    """The rows of datasets; of a dataset with several names, one row made from all of theirs."""
    names = [name for one in known for name in one.names]
    if not names:
        return []
    sql = _DETAILS.format(facets=_ALL_FACETS if with_facets else _SOURCE_ONLY)
    rows = tables.rows(sql, [name[0] for name in names], [name[1] for name in names])
    by_name: dict[Name, dict[str, Any]] = {(row["namespace"], row["name"]): row for row in rows}
    return [_merged([by_name[name] for name in one.names if name in by_name]) for one in known]


def _merged(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Its own row counts before those of its other names. Of a facet that several have, the latest counts."""
    if len(rows) == 1:
        return rows[0]
    latest: dict[str, dict[str, Any]] = {}
    for facet in sorted((one for row in rows for one in row["facets"] or ()), key=lambda one: one["event_time"]):
        latest[facet["name"]] = facet
    first = {column: next((row[column] for row in rows if row[column]), None) for column in _MERGED}
    return {**first, "tags": [tag for row in rows for tag in row["tags"] or ()], "facets": [*latest.values()]}


def _document(known: KnownDataset, stated: dict[str, Any], with_facets: bool) -> Document:
    tags = stated.get("tags")
    return {
        "id": identity(known.namespace, known.name),
        "type": dataset_type(stated),
        "name": known.name,
        "physicalName": known.name,
        "createdAt": known_time(known.created_at),
        "updatedAt": known_time(known.updated_at, known.created_at),
        "namespace": known.namespace,
        "sourceName": source_name(known, stated),
        "fields": field_documents(stated.get("fields"), tags),
        "tags": tag_names(tags),
        "lastModifiedAt": None,
        "description": stated.get("description"),
        "facets": facets(stated.get("facets")) if with_facets else _results(stated),
        "columnLineage": None,
        "deleted": stated.get("lifecycle_state") == "DROP",
        "currentVersion": None,
        "lastLifecycleState": stated.get("lifecycle_state") or "",
    }


def dataset_type(stated: dict[str, Any]) -> str:
    """Marquez knows tables and streams."""
    return "STREAM" if (stated.get("dataset_type") or "").upper() in _STREAMS else "DB_TABLE"


def source_name(known: KnownDataset, stated: dict[str, Any]) -> str:
    """The name in the facet dataSource; the namespace, if there is none."""
    for facet in stated.get("facets") or ():
        if facet["name"] == "dataSource":
            return _name_in(facet["facet"]) or known.namespace
    return known.namespace


def _name_in(facet: str) -> str | None:
    value = parsed(facet)
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def field_documents(fields: list[dict[str, Any]] | None, tags: list[dict[str, Any]] | None) -> list[Document]:
    """The fields of a dataset."""
    return [
        {
            "name": field["name"],
            "type": field["type"],
            "tags": tag_names(tags, field["name"]) if tags else [],
            "description": field["description"],
        }
        for field in fields or ()
    ]


def _results(stated: dict[str, Any]) -> Document:
    """What the graph shows of facets."""
    tests = stated.get("tests")
    return {"dataQualityAssertions": {"assertions": tests}} if tests else {}


def datasets(ask: Ask) -> Document:
    """`/namespaces/{ns}/datasets`."""
    known = dataset_index(ask.tables).of_namespace.get(ask.names[0], [])
    return {"datasets": dataset_documents(ask.tables, known[ask.page], with_facets=True), "totalCount": len(known)}


def known_dataset(ask: Ask) -> KnownDataset:
    """The dataset that the path names."""
    found = dataset_index(ask.tables).get(ask.names[0], ask.names[1])
    if found is None:
        raise not_found(f"Dataset '{ask.names[1]}'")
    return found
