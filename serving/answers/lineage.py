"""The lineage graph around a node, with its layout and with what is known of each node and edge."""

from typing import Literal

from lineproof.serving.answers.installation import NOT_KNOWN, Installation
from lineproof.serving.answers.lineage_edges import Rows, rows_of_edges
from lineproof.serving.answers.lineage_overlays import Overlay, OverlayName, Overlays, RunBar, overlays
from lineproof.serving.answers.lineage_runs import find_moments
from lineproof.serving.answers.lineage_shown import LineageQuery, Neighbours, Shown, Side, fold_id, neighbours, shown
from lineproof.serving.answers.model import Answer, Trust
from lineproof.serving.answers.statement import sql_literal
from lineproof.serving.layout import Measures
from lineproof.serving.lineage_graph import Node
from lineproof.serving.open_tables import TableSet

FOLDED_NAMES = 5
SIZE = Measures()


class Neighbourhood(Answer):
    """One side of a node."""

    total: int
    shown: int
    folded: int
    is_open: bool
    """Whether it was opened, so that it can be closed."""


class GraphNode(Answer):
    """A job or a dataset, drawn at x and y."""

    id: str
    kind: Literal["dataset", "job"]
    namespace: str
    name: str
    x: float
    y: float
    width: float
    height: float
    layer: int
    depth: int
    trust: Trust | None
    status: str
    overlays: dict[OverlayName, Overlay]
    runs: list[RunBar]
    """The last runs of a job, the oldest first."""
    up: Neighbourhood
    down: Neighbourhood


class FoldNode(Answer):
    """Neighbours of a node that are not shown because there are many."""

    id: str
    kind: Literal["fold"] = "fold"
    parent: str
    direction: Side
    count: int
    names: list[str]
    """The first of them."""
    x: float
    y: float
    width: float
    height: float


class GraphEdge(Answer):
    """From where data comes to where it goes."""

    id: str
    source: str
    target: str
    points: list[tuple[float, float]]
    rows_written: int | None = None
    rows_read: int | None = None
    difference: int | None = None
    trust: Trust | None = None
    label: str | None = None
    """Only where two runs disagree."""
    note: str | None = None


class Graph(Answer):
    """What is shown around a node."""

    center: str
    nodes: list[GraphNode | FoldNode]
    edges: list[GraphEdge]
    width: float
    height: float
    truncated: bool
    """Whether there is more than the limit allows to show."""
    limit: int
    sql: str


def lineage(tables: TableSet, asked: LineageQuery, installation: Installation = NOT_KNOWN) -> Graph | None:
    """The graph around a node; None if nobody knows the node."""
    view = shown(tables, asked)
    if view is None:
        return None
    jobs, datasets = (
        sorted((node.namespace, node.name) for node in view.depths if node.kind == kind) for kind in ("job", "dataset")
    )
    find_moments(tables, datasets)
    known = overlays(tables, installation, jobs, datasets)
    rows = rows_of_edges(tables, view.edges)
    graph = neighbours(tables)
    return Graph(
        center=view.start.id,
        nodes=[*(_node(graph, view, node, known) for node in view.depths), *_folds(view)],
        edges=_edges(view, rows),
        width=view.layout.width,
        height=view.layout.height,
        truncated=view.is_truncated,
        limit=asked.limit,
        sql=_sql(view.start),
    )


def _node(graph: Neighbours, view: Shown, node: Node, known: Overlays) -> GraphNode:
    pair = node.namespace, node.name
    of_node = (known.of_job if node.kind == "job" else known.of_dataset)[pair]
    x, y = view.layout.positions[node.id]
    return GraphNode(
        id=node.id,
        kind=node.kind,
        namespace=node.namespace,
        name=node.name,
        x=x,
        y=y,
        width=SIZE.width,
        height=SIZE.height,
        layer=view.layout.layers[node.id],
        depth=view.depths[node],
        trust=of_node["state"].trust,
        status=of_node["state"].text,
        overlays=of_node,
        runs=known.runs[pair] if node.kind == "job" else [],
        up=_side(graph, view, "up", node),
        down=_side(graph, view, "down", node),
    )


def _side(graph: Neighbours, view: Shown, side: Side, node: Node) -> Neighbourhood:
    others = graph.of(side, node)
    return Neighbourhood(
        total=len(others),
        shown=sum(other in view.depths for other in others),
        folded=len(view.folds.get((side, node), ())),
        is_open=(side, node) in view.is_open,
    )


def _folds(view: Shown) -> list[FoldNode]:
    found = []
    for (side, node), folded in view.folds.items():
        id_ = fold_id(side, node)
        x, y = view.layout.positions[id_]
        found.append(
            FoldNode(
                id=id_,
                parent=node.id,
                direction=side,
                count=len(folded),
                names=[other.name for other in folded[:FOLDED_NAMES]],
                x=x,
                y=y,
                width=SIZE.width,
                height=SIZE.height,
            )
        )
    return found


def _edges(view: Shown, rows: dict[tuple[Node, Node], Rows]) -> list[GraphEdge]:
    of_ids = {(source.id, target.id): found for (source, target), found in rows.items()}
    return [
        _edge(source, target, points, of_ids.get((source, target), Rows()))
        for (source, target), points in view.layout.routes.items()
    ]


def _edge(source: str, target: str, points: list[tuple[float, float]], rows: Rows) -> GraphEdge:
    return GraphEdge(
        id=f"{source} → {target}",
        source=source,
        target=target,
        points=points,
        rows_written=rows.written,
        rows_read=rows.read,
        difference=rows.difference,
        trust=rows.trust,
        label=f"{rows.written:,} ≠ {rows.read:,}" if rows.difference else None,
        note=rows.note,
    )


def _sql(node: Node) -> str:
    if node.kind == "job":
        return (
            f"SELECT * FROM job_edges WHERE job_namespace = {sql_literal(node.namespace)}"
            f" AND job_name = {sql_literal(node.name)}"
        )
    named = f"({sql_literal(node.namespace)}, {sql_literal(node.name)})"
    return f"SELECT * FROM lineage_upstream{named} UNION ALL SELECT * FROM lineage_downstream{named}"
