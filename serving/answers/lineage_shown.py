"""Which part of the lineage graph is shown: what is around a node, what was opened and closed, and what is folded."""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from lineproof.serving.layout import Arrangement, Layout
from lineproof.serving.lineage_graph import MAX_NODES, TABLES, Kind, LineageGraph, Node, lineage_graph
from lineproof.serving.open_tables import TableSet

Side = Literal["up", "down"]
SIDES: tuple[Side, Side] = ("up", "down")
Place = tuple[Side, Node]
"""One side of a node."""

KEPT_VIEWS = 16
"""So many layouts are kept, until the graph changes."""
WALK_FURTHER = 4
"""A walk finds so many times the nodes that are shown, because folding hides some of them."""


@dataclass(frozen=True)
class LineageQuery:
    """What is asked for."""

    kind: Kind
    namespace: str
    name: str
    up: int = 1
    down: int = 1
    fold: int = 12
    """So many neighbours are shown on a side; the others are folded."""
    opened: tuple[str, ...] = ()
    """In the order in which they were opened: up:NODE, down:NODE, fold:up:NODE, fold:down:NODE, or NODE for both."""
    closed: tuple[str, ...] = ()
    """up:NODE and down:NODE."""
    limit: int = MAX_NODES


@dataclass
class Shown:
    """The nodes that are shown, and where."""

    start: Node
    depths: dict[Node, int]
    folds: dict[Place, list[Node]]
    """What a side of a node does not show because there is too much of it."""
    is_open: set[Place]
    edges: list[tuple[Node, Node]]
    is_truncated: bool
    layout: Layout
    ids: dict[str, Node] = field(default_factory=dict)


class Neighbours:
    """The neighbours of each node, found once, and the views of the graph that were asked for last."""

    def __init__(self, graph: LineageGraph) -> None:
        self.graph = graph
        self._found: dict[Place, tuple[Node, ...]] = {}
        self.views: OrderedDict[LineageQuery, Shown] = OrderedDict()

    def of(self, side: Side, node: Node) -> tuple[Node, ...]:
        """The nodes on one side of a node, by name."""
        found = self._found.get((side, node))
        if found is None:
            nodes = self.graph.before(node) if side == "up" else self.graph.after(node)
            found = self._found[side, node] = tuple(sorted(nodes, key=by_name))
        return found


def by_name(node: Node) -> tuple[str, str, str]:
    """The order in which neighbours are shown."""
    return node.name, node.namespace, node.kind


def neighbours(tables: TableSet) -> Neighbours:
    """The neighbours in the graph of these tables."""
    return tables.derived("lineage neighbours", TABLES, lambda of: Neighbours(lineage_graph(of)))


def shown(tables: TableSet, asked: LineageQuery) -> Shown | None:
    """What is shown; None if the node is not known. A view that was asked for before is not computed again."""
    graph = neighbours(tables)
    found = graph.views.get(asked)
    if found is None:
        start = graph.graph.node(asked.kind, asked.namespace, asked.name)
        if start not in graph.graph and not _is_known(tables, start):
            return None
        found = _Selection(graph, start, asked).result()
        graph.views[asked] = found
        while len(graph.views) > KEPT_VIEWS:
            graph.views.popitem(last=False)
    return found


def _is_known(tables: TableSet, node: Node) -> bool:
    table = "datasets" if node.kind == "dataset" else "jobs"
    return tables.row(f"SELECT 1 FROM {table} WHERE namespace = ? AND name = ?", *node[1:]) is not None


class _Selection:
    """Starts with a walk, and applies what was opened in its order, so that the layout only grows."""

    def __init__(self, graph: Neighbours, start: Node, asked: LineageQuery) -> None:
        self._graph, self._start, self._asked = graph, start, asked
        self._depths = {start: 0}
        self._folds: dict[Place, list[Node]] = {}
        self._is_open: set[Place] = set()
        self._is_truncated = False
        self._closed = {place for text in asked.closed for place in self._places(text)}

    def result(self) -> Shown:
        walk = self._graph.graph.walk(self._start, self._asked.up, self._asked.down, self._asked.limit * WALK_FURTHER)
        near: dict[Place, list[Node]] = defaultdict(list)
        for source, target in walk.edges:
            near["up", target].append(source)
            near["down", source].append(target)
        for side in SIDES:
            self._spread(side, self._depth(side), near)
        edges = self._edges(self._depths)
        arrangement = Arrangement(self._start.id, [node.id for node in self._depths], edges)
        self._open_all(arrangement)
        self._is_truncated |= walk.is_truncated and self._misses(near)
        return self._drawn(arrangement)

    def _spread(self, side: Side, depth: int, near: dict[Place, list[Node]]) -> None:
        """Show what the walk found on one side, nearest first."""
        ring = [self._start]
        for distance in range(1, depth + 1):
            ring = [
                new
                for node in ring
                if (side, node) not in self._closed
                for new in self._show(side, node, near.get((side, node), ()), distance)
            ]

    def _show(
        self, side: Side, node: Node, others: Iterable[Node], distance: int, *, unfolded: bool = False
    ) -> list[Node]:
        """Show neighbours that are not there yet; fold those that are too many."""
        # Not a difference with keys(): that goes through all keys.
        waiting = sorted({other for other in others if other not in self._depths}, key=by_name)
        places = len(waiting) if unfolded else max(1, self._asked.fold)
        if len(waiting) == places + 1:
            places += 1  # a fold of one would take as much room as the node
        new, folded = waiting[:places], waiting[places:]
        room = self._asked.limit - len(self._depths)
        self._is_truncated |= len(new) > room
        self._depths.update(dict.fromkeys(new[:room], -distance if side == "up" else distance))
        self._is_open.add((side, node))
        self._folds[side, node] = folded
        return new[:room]

    def _open_all(self, arrangement: Arrangement) -> None:
        """Open in the given order. What is not shown yet may be shown by what was opened later."""
        waiting = [(text, place) for text in self._asked.opened for place in self._places(text)]
        while waiting:
            later = []
            for text, (side, node) in waiting:
                if node not in self._depths:
                    later.append((text, (side, node)))
                elif (side, node) not in self._closed:
                    self._open(text, side, node, arrangement)
            if len(later) == len(waiting):
                return
            waiting = later

    def _open(self, text: str, side: Side, node: Node, arrangement: Arrangement) -> None:
        distance = abs(self._depths[node]) + 1
        hidden = self._folds.get((side, node), []) if text.startswith("fold:") else self._graph.of(side, node)
        new = self._show(side, node, hidden, distance, unfolded=text.startswith("fold:"))
        edges = self._edges(new)
        arrangement.add(node.id, [one.id for one in new], edges, upstream=side == "up")

    def _places(self, text: str) -> list[Place]:
        side, _, id_ = text.removeprefix("fold:").partition(":")
        sides = [one for one in SIDES if one == side] or list(SIDES)
        node = self._graph.graph.by_id(id_ if side in SIDES else text)
        return [(one, node) for one in sides] if node else []

    def _edges(self, nodes: Iterable[Node]) -> list[tuple[str, str]]:
        """All edges of these nodes with nodes that are shown."""
        return [
            edge
            for node in nodes
            for edge in (
                *((node.id, other.id) for other in self._graph.of("down", node) if other in self._depths),
                *((other.id, node.id) for other in self._graph.of("up", node) if other in self._depths),
            )
        ]

    def _misses(self, near: dict[Place, list[Node]]) -> bool:
        """Whether the walk ended before it found everything that would be shown."""
        return any(
            len(self._graph.of(side, node)) > len(near.get((side, node), ())) and not self._folds.get((side, node))
            for node, depth in self._depths.items()
            for side in SIDES
            if abs(depth) < self._depth(side) and (depth <= 0 if side == "up" else depth >= 0)
        )

    def _depth(self, side: Side) -> int:
        return self._asked.up if side == "up" else self._asked.down

    def _drawn(self, arrangement: Arrangement) -> Shown:
        folds = {}
        for (side, node), folded in sorted(self._folds.items()):
            left = [other for other in folded if other not in self._depths]
            if left:
                folds[side, node] = left
                id_ = fold_id(side, node)
                edge = (id_, node.id) if side == "up" else (node.id, id_)
                arrangement.add(node.id, [id_], [edge], upstream=side == "up")
        edges = [
            (node, other) for node in self._depths for other in self._graph.of("down", node) if other in self._depths
        ]
        ids = {node.id: node for node in self._depths}
        layout = arrangement.layout()
        return Shown(self._start, self._depths, folds, self._is_open, edges, self._is_truncated, layout, ids)


def fold_id(side: Side, node: Node) -> str:
    """The id of what is folded on one side of a node."""
    return f"fold:{side}:{node.id}"
