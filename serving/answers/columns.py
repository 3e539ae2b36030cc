"""The path of one column: the columns that it is made from, and those that are made from it. Nothing else."""

from collections.abc import Callable
from dataclasses import dataclass

from lineproof.serving.answers.column_edges import ColumnEdge, ColumnKey, edges_into, edges_out_of
from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.model import Answer, Name
from lineproof.serving.answers.statement import sql_literal
from lineproof.serving.layout import Measures, Point, layout
from lineproof.serving.lineage_graph import Node, lineage_graph
from lineproof.serving.open_tables import TableSet

MAX_COLUMNS = 2000
HEADER, ROW = 46.0, 22.0
"""Heights in pixels, of the head of a dataset and of one of its columns."""
ROWS_LABEL = None
_WALK_FURTHER = 3
"""So many times the nodes of a path: the walk has jobs, too."""


@dataclass(frozen=True)
class ColumnQuery:
    """What is asked for."""

    namespace: str
    name: str
    field: str
    up: int = 20
    down: int = 20
    rows: bool = False
    """Whether to follow columns that decide only which rows a dataset has."""


class ColumnNode(Answer):
    """A dataset, with the columns of it that are on the path."""

    id: str
    namespace: str
    name: str
    fields: list[str | None]
    """In the order in which they are drawn. Null stands for the rows of the dataset."""
    depth: int
    x: float
    y: float
    width: float
    height: float


class Transformation(Answer):
    """How a column is made from another one."""

    type: str | None
    subtype: str | None
    description: str | None
    masking: bool | None


class ColumnPathEdge(Answer):
    """From a column to one that is made from it, or to the rows of a dataset that it decides about."""

    id: str
    source: str
    source_field: str
    target: str
    target_field: str | None
    transformations: list[Transformation]
    jobs: list[Name]
    points: list[Point]


class ColumnPath(Answer):
    """The path of a column."""

    center: str
    field: str
    nodes: list[ColumnNode]
    edges: list[ColumnPathEdge]
    row_edges: int
    """So many columns decide which rows there are; they are shown with rows=true."""
    width: float
    height: float
    header: float = HEADER
    row: float = ROW
    truncated: bool
    limit: int = MAX_COLUMNS
    sql: str


def column_path(tables: TableSet, asked: ColumnQuery) -> ColumnPath | None:
    """The path of a column; None if nobody knows the dataset or the column."""
    node = combinations(tables).node(asked.namespace, asked.name)
    path = _Path(tables, (node, asked.field), asked)
    if len(path.depths) == 1 and not _is_known(tables, node, asked.field):
        return None
    return _drawn(path, asked)


def _is_known(tables: TableSet, node: Pair, field: str) -> bool:
    named = sorted(combinations(tables).all_names(node))
    rows = (tables.row("SELECT fields FROM datasets WHERE namespace = ? AND name = ?", *pair) for pair in named)
    return any(field == one["name"] for row in rows if row for one in row["fields"] or ())


class _Path:
    """Follows the edges of columns in both directions."""

    def __init__(self, tables: TableSet, start: ColumnKey, asked: ColumnQuery) -> None:
        self._asked = asked
        self.start = start
        self.depths: dict[ColumnKey, int] = {start: 0}
        self.edges: dict[tuple[ColumnKey, ColumnKey], ColumnEdge] = {}
        self.row_edges: set[tuple[ColumnKey, ColumnKey]] = set()
        self.is_truncated = False
        graph, of_start = lineage_graph(tables), Node("dataset", *start[0])
        limit = _WALK_FURTHER * MAX_COLUMNS
        above = graph.walk(of_start, 2 * asked.up, 0, limit) if asked.up else None
        below = graph.walk(of_start, 0, 2 * asked.down, limit) if asked.down else None
        into = edges_into(tables, _datasets(above.depths)) if above else {}
        out_of = edges_out_of(tables, _datasets(below.depths)) if below else {}
        self._follow(asked.up, -1, lambda key: into.get(key[0], []))
        self._follow(asked.down, 1, lambda key: out_of.get(key[0], []))

    def _follow(self, depth: int, sign: int, edges_of: Callable[[ColumnKey], list[ColumnEdge]]) -> None:
        ring = [self.start]
        for distance in range(1, depth + 1):
            found = []
            for key in ring:
                for edge in edges_of(key):
                    near, far = (edge.target, edge.source) if sign < 0 else (edge.source, edge.target)
                    is_start_rows = near == (key[0], None) and sign < 0
                    if near != key and not is_start_rows:
                        continue
                    if edge.target[1] is None:
                        self.row_edges.add((edge.source, edge.target))
                        if not self._asked.rows:
                            continue
                    if len(self.depths) >= MAX_COLUMNS and far not in self.depths:
                        self.is_truncated = True
                        continue
                    self.edges[edge.source, edge.target] = edge
                    self.depths.setdefault(near, sign * (distance - 1))
                    if far not in self.depths:
                        self.depths[far] = sign * distance
                        found.append(far)
            ring = sorted(found, key=_by_name)


def _datasets(nodes: dict[Node, int]) -> list[Pair]:
    return [(node.namespace, node.name) for node in nodes if node.kind == "dataset"]


def _by_name(key: ColumnKey) -> tuple[Pair, bool, str]:
    return key[0], key[1] is None, key[1] or ""


def _drawn(path: _Path, asked: ColumnQuery) -> ColumnPath:
    fields: dict[Pair, list[str | None]] = {}
    for dataset, field in sorted(path.depths, key=_by_name):
        fields.setdefault(dataset, []).append(field)
    ids = {dataset: Node("dataset", *dataset).id for dataset in fields}
    size = Measures(heights={ids[of]: HEADER + ROW * len(listed) + ROW / 2 for of, listed in fields.items()})
    start = ids[path.start[0]]
    pairs = {(ids[edge.source[0]], ids[edge.target[0]]) for edge in path.edges.values()}
    drawn = layout(start, ids.values(), pairs, size)

    def row_y(key: ColumnKey) -> float:
        return drawn.positions[ids[key[0]]][1] + HEADER + ROW * (fields[key[0]].index(key[1]) + 0.5)

    edges = []
    for (source, target), edge in sorted(path.edges.items(), key=lambda item: (*map(_by_name, item[0]),)):
        route = drawn.routes[ids[source[0]], ids[target[0]]]
        points = [(route[0][0], row_y(source)), *route[1:-1], (route[-1][0], row_y(target))]
        edges.append(_edge(edge, ids, points))
    return ColumnPath(
        center=start,
        field=asked.field,
        nodes=[_node(of, listed, ids[of], path, drawn.positions[ids[of]], size) for of, listed in fields.items()],
        edges=edges,
        row_edges=len(path.row_edges),
        width=drawn.width,
        height=drawn.height,
        truncated=path.is_truncated,
        sql=_sql(path.start),
    )


def _node(of: Pair, fields: list[str | None], id_: str, path: _Path, at: Point, size: Measures) -> ColumnNode:
    depth = min((path.depths[of, field] for field in fields), key=abs)
    height = size.heights[id_]
    x, y = at
    return ColumnNode(
        id=id_, namespace=of[0], name=of[1], fields=fields, depth=depth, x=x, y=y, width=size.width, height=height
    )


def _edge(edge: ColumnEdge, ids: dict[Pair, str], points: list[Point]) -> ColumnPathEdge:
    source, target = ids[edge.source[0]], ids[edge.target[0]]
    return ColumnPathEdge(
        id=f"{source}:{edge.source[1]} → {target}:{edge.target[1] or ''}",
        source=source,
        source_field=edge.source[1] or "",
        target=target,
        target_field=edge.target[1],
        transformations=[Transformation(**one) for one in edge.transformations],
        jobs=[Name(namespace=namespace, name=name) for namespace, name in dict.fromkeys(edge.jobs)],
        points=points,
    )


def _sql(start: ColumnKey) -> str:
    (namespace, name), field = start
    named = " AND ".join(
        f"{{end}}_{part} = {sql_literal(value)}"
        for part, value in (("namespace", namespace), ("name", name), ("field", field))
    )
    ends = (named.replace("{end}", "source"), named.replace("{end}", "target"))
    return f"SELECT * FROM column_edges WHERE ({ends[0]}) OR ({ends[1]})"
