"""Routes of lineage."""

from typing import Annotated, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Query, Response

from lineproof.serving.answers.columns import ColumnPath, ColumnQuery, column_path
from lineproof.serving.answers.lineage import Graph, lineage
from lineproof.serving.answers.lineage_export import as_csv
from lineproof.serving.answers.lineage_shown import LineageQuery
from lineproof.serving.answers.run_lineage import RunLineage, run_lineage
from lineproof.serving.api.errors import NotFound
from lineproof.serving.api.parameters import Text
from lineproof.serving.api.reading import Read
from lineproof.serving.lineage_graph import MAX_NODES
from lineproof.serving.open_tables import TableSet

router = APIRouter(tags=["lineage"])

Kind = Literal["dataset", "job"]
Depth = Annotated[int, Query(ge=0, le=100, description="Edges: from a dataset to its job is one.")]
Fold = Annotated[int, Query(ge=1, le=MAX_NODES, description="So many neighbours are shown on a side of a node.")]
Limit = Annotated[int, Query(ge=1, le=MAX_NODES)]
Ids = Annotated[list[Annotated[str, Query(max_length=60_000)]], Query(max_length=1000)]
"""Ids with commas between them. Each is percent-encoded by itself, because names contain commas, too."""
_ADVICE = "Search for it: names are case-sensitive. Jobs and datasets are read less often than runs; ask again later."


def _asked(
    kind: Kind,
    namespace: Text,
    name: Text,
    up: Depth = 1,
    down: Depth = 1,
    fold: Fold = 12,
    limit: Limit = MAX_NODES,
    open_: Annotated[Ids, Query(alias="open")] = [],  # noqa: B006
    closed: Ids = [],  # noqa: B006
) -> LineageQuery:
    return LineageQuery(kind, namespace, name, up, down, fold, _ids(open_), _ids(closed), limit)


Asked = Annotated[LineageQuery, Depends(_asked)]


@router.get("/lineage", response_model=Graph, summary="The lineage graph around a node, with its layout")
async def get_lineage(read: Read, asked: Asked) -> Response:
    """`open` and `closed` name sides of nodes as up:ID or down:ID, with commas between them; fold:up:ID shows what is
    folded. Each is percent-encoded by itself, because names contain commas, too."""
    return await read(lambda tables: lineage(tables, asked, read.installation), _named(asked))


@router.get("/lineage/columns", response_model=ColumnPath, summary="The path of one column")
async def get_columns(
    read: Read, namespace: Text, name: Text, field: Text, up: Depth = 20, down: Depth = 20, rows: bool = False
) -> Response:
    """`rows`: follow columns too that decide only which rows a dataset has."""
    asked = ColumnQuery(namespace, name, field, up, down, rows)
    return await read(lambda tables: column_path(tables, asked), f"column {field[:100]} of {name[:100]}")


@router.get("/lineage/run", response_model=RunLineage, summary="The runs before and after a run")
async def get_run_lineage(
    read: Read,
    run_id: Text,
    up: Annotated[int, Query(ge=0, le=20)] = 1,
    down: Annotated[int, Query(ge=0, le=20)] = 1,
) -> Response:
    """Who wrote what it read, and who read what it wrote."""
    return await read(lambda tables: run_lineage(tables, run_id, up, down), f"run {run_id[:100]}")


@router.get("/lineage/export", response_class=Response, summary="The edges of the graph as CSV")
async def export_lineage(
    read: Read,
    asked: Asked,
    format_: Annotated[Literal["csv"], Query(alias="format")] = "csv",
) -> Response:
    """The same parameters as `/lineage`."""

    def csv_of(tables: TableSet) -> bytes:
        graph = lineage(tables, asked, read.installation)
        if graph is None:
            raise NotFound(f"There is no {_named(asked)}.", _ADVICE)
        return as_csv(graph).encode("utf-8", "replace")

    response = await read.send(csv_of, f"text/{format_}; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="lineage.csv"'
    return response


def _named(asked: LineageQuery) -> str:
    return f"{asked.kind} {asked.name[:100]} in {asked.namespace[:100]}"


def _ids(given: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(unquote(one) for text in given for one in text.split(",") if one))
