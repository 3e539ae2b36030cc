"""Ids of nodes: KIND:NAMESPACE:NAME, where namespaces and names contain colons as well."""

from collections.abc import Iterator
from urllib.parse import unquote

from lineproof.serving.api.marquez.ask import Ask, Refusal, not_found
from lineproof.serving.api.marquez.column_graph import Field, column_graph
from lineproof.serving.api.marquez.dataset_index import dataset_index
from lineproof.serving.api.marquez.job_index import job_index
from lineproof.serving.lineage_graph import Node
from lineproof.serving.open_tables import TableSet

_VERSION = 36
"""The length of a UUID, which follows # in the id of a version."""


def node_of(ask: Ask) -> Node:
    """The job or dataset that `nodeId` names."""
    for id_ in _spellings(ask):
        kind, _, rest = id_.partition(":")
        if kind in ("job", "dataset") and (found := _known(ask.tables, kind, rest)):
            return found
    raise _unknown(ask)


def fields_of(ask: Ask) -> list[Field]:
    """The columns that `nodeId` names: one, those of a dataset, or those that a job writes."""
    columns = column_graph(ask.tables)
    for id_ in _spellings(ask):
        if id_ in columns.by_id:
            return [columns.by_id[id_]]
        kind, _, rest = id_.partition(":")
        if kind == "datasetField" and any(_known(ask.tables, "dataset", before) for before, _ in _splits(rest)):
            return _by_other_name(ask.tables, rest)
        found = _known(ask.tables, kind, rest) if kind in ("job", "dataset") else None
        if found and found.kind == "job":
            return sorted(columns.of_job.get((found.namespace, found.name), ()))
        if found:
            return columns.fields(found.namespace, found.name)
    raise _unknown(ask)


def _known(tables: TableSet, kind: str, rest: str) -> Node | None:
    """The job or dataset with this name, whichever colon is between namespace and name."""
    for namespace, name in _splits(rest):
        if kind == "job":
            if (namespace, name) in job_index(tables).by_name:
                return Node("job", namespace, name)
        elif dataset := dataset_index(tables).get(namespace, name):
            return Node("dataset", dataset.namespace, dataset.name)
    return None


def _by_other_name(tables: TableSet, rest: str) -> list[Field]:
    """The column of a dataset that is asked for by another name than that in lineage; none, if it has no lineage."""
    columns = column_graph(tables)
    for before, field in _splits(rest):
        dataset = _known(tables, "dataset", before)
        if dataset and (found := Field(dataset.namespace, dataset.name, field)).id in columns.by_id:
            return [found]
    return []


def _splits(text: str) -> Iterator[tuple[str, str]]:
    for at, character in enumerate(text):
        if character == ":":
            yield text[:at], text[at + 1 :]


def _spellings(ask: Ask) -> Iterator[str]:
    """The id as it is, and without the version at its end. Pages encode some ids twice and others not at all."""
    sent = ask.text("nodeId")
    for given in dict.fromkeys((sent, ask.plain("nodeId"), unquote(sent))):
        yield given
        before, hash_, version = given.rpartition("#")
        if hash_ and len(version) == _VERSION:
            yield before


def _unknown(ask: Ask) -> Refusal:
    id_ = ask.text("nodeId")
    if id_.partition(":")[0] not in ("job", "dataset", "datasetField"):
        return Refusal(
            400, "nodeId must be job:NAMESPACE:NAME, dataset:NAMESPACE:NAME or datasetField:NAMESPACE:NAME:FIELD.", ""
        )
    return not_found(f"Node '{id_}'")
