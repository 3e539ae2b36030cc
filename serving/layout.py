"""Where the nodes of a lineage graph are drawn: in layers from left to right, with edges that pass beside nodes.

The same graph has the same layout, in whichever order its nodes and edges are given. Nodes that are added later,
because somebody opened a node, leave the layer and the order of the others as they are: nothing
jumps.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lineproof.serving.layout_coordinates import half_height, vertical
from lineproof.serving.layout_layers import layer_beside, layers_around
from lineproof.serving.layout_order import BACK, BEND, NODE, Item, Order

Point = tuple[float, float]
Edge = tuple[str, str]


@dataclass(frozen=True)
class Measures:
    """Sizes in pixels."""

    width: float = 208
    height: float = 58
    heights: Mapping[str, float] = field(default_factory=dict)
    """Of nodes that have another height."""
    gap_x: float = 88
    gap_y: float = 22
    gap_at_bends: float = 12
    margin: float = 36


@dataclass(frozen=True)
class Layout:
    """A drawn graph."""

    positions: dict[str, Point]
    """The upper left corner of each node."""
    routes: dict[Edge, list[Point]]
    """The points of each edge. Between two points of the same height it is a straight line, else a smooth curve."""
    layers: dict[str, int]
    order: list[list[str]]
    """The nodes of each layer, from top to bottom."""
    width: float
    height: float


class Arrangement:
    """The layers of a graph and their order, to which nodes can be added."""

    def __init__(self, start: str, nodes: Iterable[str], edges: Iterable[Edge]) -> None:
        all_nodes = {start, *nodes}
        self._edges: set[Edge] = set()
        self._before: dict[str, set[str]] = defaultdict(set)
        self._after: dict[str, set[str]] = defaultdict(set)
        self._order = Order()
        new = self._connect(all_nodes, edges)
        self.layers = layers_around(start, all_nodes, self._before, self._after)
        self._place(all_nodes, new)

    def add(self, anchor: str, nodes: Iterable[str], edges: Iterable[Edge], *, upstream: bool = False) -> None:
        """Add nodes that were opened from `anchor`. Those that are there keep their layer and their order."""
        new = {node for node in nodes if node not in self.layers}
        connecting = self._connect({*self.layers, *new}, edges)
        kept = dict(self.layers)
        for node in sorted(new):
            self.layers[node] = layer_beside(node, anchor, upstream, self._before[node], self._after[node], kept)
        self._place(new, connecting)

    def _connect(self, nodes: set[str], edges: Iterable[Edge]) -> list[Edge]:
        new = sorted({edge for edge in edges if edge[0] in nodes and edge[1] in nodes} - self._edges)
        self._edges.update(new)
        for source, target in new:
            self._after[source].add(target)
            self._before[target].add(source)
        return new

    def _place(self, nodes: Iterable[str], edges: Iterable[Edge]) -> None:
        forward = [
            (self._item(source), self._item(target)) for source, target in edges if self._leads_on(source, target)
        ]
        self._order.add([self._item(node) for node in sorted(nodes)], forward)

    def _leads_on(self, source: str, target: str) -> bool:
        return self.layers[source] < self.layers[target]

    def _item(self, node: str) -> Item:
        return NODE, node, self.layers[node]

    def layout(self, measures: Measures | None = None) -> Layout:
        """Coordinates for all nodes and edges."""
        size = measures or Measures()
        backwards = sorted(edge for edge in self._edges if not self._leads_on(*edge))
        order = _with_return_lanes(
            self._order, [(self._item(source), self._item(target)) for source, target in backwards]
        )
        heights = {node: size.heights.get(node, size.height) for node in self.layers}
        y = vertical(order, heights, size.gap_y, size.gap_at_bends)
        first = min(order.layers)
        top = min(at - half_height(item, heights) for item, at in y.items())
        bottom = max(at + half_height(item, heights) for item, at in y.items())

        def at(item: Item, *, right: bool = False) -> Point:
            x = size.margin + (item[2] - first) * (size.width + size.gap_x) + (size.width if right else 0)
            return round(x, 1), round(y[item] - top + size.margin, 1)

        corners = {item[1]: at(item) for item in y if item[0] == NODE}
        routes = {}
        for source, target in sorted(self._edges):
            near, far = self._item(source), self._item(target)
            if near[2] < far[2]:
                between = [(BEND, source, layer) for layer in range(near[2] + 1, far[2])]
                passed = [point for bend in between for point in (at(bend), at(bend, right=True))]
            else:
                between = [(BACK, source, layer) for layer in range(near[2], far[2] - 1, -1)]
                passed = [point for bend in between for point in (at(bend, right=True), at(bend))]
            routes[source, target] = [at(near, right=True), *passed, at(far)]
        layers = sorted(order.layers)
        return Layout(
            positions={node: (x, round(middle - heights[node] / 2, 1)) for node, (x, middle) in corners.items()},
            routes=routes,
            layers=dict(self.layers),
            order=[[item[1] for item in order.layers[layer] if item[0] == NODE] for layer in layers],
            width=round((layers[-1] - first) * (size.width + size.gap_x) + size.width + 2 * size.margin, 1),
            height=round(bottom - top + 2 * size.margin, 1),
        )


def layout(start: str, nodes: Iterable[str], edges: Iterable[Edge], measures: Measures | None = None) -> Layout:
    """The layout of a graph around a node."""
    return Arrangement(start, nodes, edges).layout(measures)


def _with_return_lanes(kept: Order, backwards: Iterable[tuple[Item, Item]]) -> Order:
    """The same order with bends for edges that lead back: below their source, through the layers between."""
    order = Order()
    order.left, order.right = kept.left.copy(), kept.right.copy()
    order.layers.update({layer: [*items] for layer, items in kept.layers.items()})
    known: set[Item] = set()
    for source, target in backwards:
        above = source
        for layer in range(source[2], target[2] - 1, -1):
            bend = (BACK, source[1], layer)
            if bend not in known:
                known.add(bend)
                items = order.layers[layer]
                if layer == source[2]:
                    order.insert_after(bend, source)
                elif layer == target[2]:
                    order.insert_after(bend, target)
                else:
                    share = order.layers[layer + 1].index(above) / len(order.layers[layer + 1])
                    items.insert(round(share * len(items)), bend)
                if above[0] == BACK:
                    order.left[above] = [*order.left.get(above, []), bend]
                    order.right[bend] = [*order.right.get(bend, []), above]
            above = bend
    return order
