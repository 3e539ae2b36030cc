"""`/column-lineage`: the columns around a column, around those of a dataset, or around those that a job writes."""

from lineproof.serving.api.marquez.ask import Ask
from lineproof.serving.api.marquez.column_graph import ColumnGraph, Field, column_graph
from lineproof.serving.api.marquez.dataset_index import dataset_index
from lineproof.serving.api.marquez.datasets import dataset_details
from lineproof.serving.api.marquez.lineage import DEFAULT_DEPTH, MAX_DEPTH
from lineproof.serving.api.marquez.node_ids import fields_of
from lineproof.serving.api.marquez.values import Document
from lineproof.serving.open_tables import TableSet


def column_lineage(ask: Ask) -> Document:
    """Upstream, and downstream with `withDownstream=true`. A dataset without column lineage has an empty graph."""
    starts, columns = fields_of(ask), column_graph(ask.tables)
    depth = ask.number("depth", DEFAULT_DEPTH, MAX_DEPTH)
    fields = columns.walk(starts, depth, downstream=ask.flag("withDownstream"))
    types = _types(ask.tables, fields)
    shown = set(fields)
    return {"graph": [_node(field, columns, shown, types.get(field)) for field in fields]}


def _node(field: Field, columns: ColumnGraph, shown: set[Field], type_: str | None) -> Document:
    """Marquez writes the node itself as the origin of its edges in both directions, and pages rely on it."""
    return {
        "id": field.id,
        "type": "DATASET_FIELD",
        "data": {
            "namespace": field.namespace,
            "dataset": field.dataset,
            "datasetVersion": None,
            "field": field.name,
            "fieldType": type_ or "",
            "transformationDescription": None,
            "transformationType": None,
            "inputFields": columns.inputs(field),
        },
        "inEdges": _edges(field, [other for other in columns.sources.get(field, ()) if other in shown]),
        "outEdges": _edges(field, [other for other in columns.targets.get(field, ()) if other in shown]),
    }


def _edges(field: Field, others: list[Field]) -> list[Document]:
    return [{"origin": field.id, "destination": other.id} for other in others]


def _types(tables: TableSet, fields: list[Field]) -> dict[Field, str]:
    """The types of the columns, of which their datasets state some."""
    index = dataset_index(tables)
    names = dict.fromkeys((field.namespace, field.dataset) for field in fields)
    known = [found for name in names if (found := index.get(*name))]
    details = dataset_details(tables, known, with_facets=False)
    return {
        Field(one.namespace, one.name, field["name"]): field["type"]
        for one, stated in zip(known, details, strict=True)
        for field in stated.get("fields") or ()
        if field["type"]
    }
