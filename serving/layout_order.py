"""The order of the nodes in each layer, from top to bottom, and the bends of edges that pass layers.

A node comes where its neighbours in the layer towards the start are: at the middle one of them. Only the order of
neighbours decides, never a coordinate, so a node that is added changes the order of no others.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import accumulate, pairwise

Item = tuple[str, str, int]
"""A node (NODE, its id, its layer), or the bend of all edges of a source in a layer that they pass (BEND or BACK)."""
NODE, BEND, BACK = "node", "bend", "back"


class Order:
    """Nodes and bends in layers. More nodes can be added; those that are there keep their order."""

    def __init__(self) -> None:
        self.layers: dict[int, list[Item]] = defaultdict(list)
        self.left: dict[Item, list[Item]] = defaultdict(list)
        self.right: dict[Item, list[Item]] = defaultdict(list)
        self._known: set[Item] = set()
        self._segments: set[tuple[Item, Item]] = set()

    def add(self, nodes: Iterable[Item], edges: Iterable[tuple[Item, Item]]) -> None:
        """Add nodes, and edges from an item to one in a later layer."""
        new = [*nodes]
        for source, target in edges:
            path = [source, *((BEND, source[1], layer) for layer in range(source[2] + 1, target[2])), target]
            for near, far in pairwise(path):
                if (near, far) not in self._segments:
                    self._segments.add((near, far))
                    self.right[near].append(far)
                    self.left[far].append(near)
            new += path[1:-1]
        waiting = defaultdict(set)
        for item in new:
            if item not in self._known:
                waiting[item[2]].add(item)
        self._known.update(new)
        self._place(waiting)

    def insert_after(self, item: Item, anchor: Item) -> None:
        """Place an item directly below another one of its layer."""
        layer = self.layers[item[2]]
        layer.insert(layer.index(anchor) + 1, item)

    def _place(self, waiting: dict[int, set[Item]]) -> None:
        inwards = {layer: self.left if layer > 0 else self.right for layer in waiting}
        outwards = {layer: self.right if layer > 0 else self.left for layer in waiting}
        nearest = sorted(waiting, key=abs)
        while any(waiting.values()):
            placed = sum(self._place_layer(layer, waiting[layer], inwards[layer]) for layer in nearest)
            if not placed:
                placed = sum(self._place_layer(layer, waiting[layer], outwards[layer]) for layer in reversed(nearest))
            if not placed:
                layer = next(layer for layer in nearest if waiting[layer])
                lone = min(waiting[layer])
                waiting[layer].remove(lone)
                self.layers[layer].append(lone)

    def _place_layer(self, layer: int, waiting: set[Item], beside: dict[Item, list[Item]]) -> int:
        if not waiting:
            return 0
        step = -1 if beside is self.left else 1
        positions = {item: at for at, item in enumerate(self.layers.get(layer + step, ()))}
        found = []
        for item in waiting:
            key = _middle(beside.get(item, ()), positions)
            if key is not None:
                found.append((key, item))
        if found:
            found.sort()
            kept = [_middle(beside.get(item, ()), positions) for item in self.layers[layer]]
            self.layers[layer] = _merged(self.layers[layer], kept, found)
            waiting.difference_update(item for _, item in found)
        return len(found)


def _middle(others: Collection[Item], positions: dict[Item, int]) -> int | None:
    placed = sorted(positions[other] for other in others if other in positions)
    return placed[(len(placed) - 1) // 2] if placed else None


def _merged(kept: list[Item], keys: list[int | None], new: list[tuple[int, Item]]) -> list[Item]:
    """Both in one list. Each new item comes where the fewest of those that stay are on the wrong side of it."""
    if not kept:
        return [item for _, item in new]
    inserted: dict[int, list[Item]] = defaultdict(list)
    best, best_of = 0, -1
    for key, item in new:
        if key != best_of:
            cost = accumulate((0 if other is None else 1 if other > key else -1 for other in keys), initial=0)
            lowest = min(costs := [*cost])
            place = max(at for at, one in enumerate(costs) if one == lowest)
            best, best_of = max(best, place), key
        inserted[best].append(item)
    merged = []
    for at, one in enumerate(kept):
        merged += [*inserted.get(at, ()), one]
    return merged + inserted.get(len(kept), [])
