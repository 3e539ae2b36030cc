"""The layer of each node, from left to right: an edge leads to a later layer, unless it closes a cycle.

Layers are counted from the node that the graph is about: negative upstream, positive downstream. A node lies as near to
it as its edges allow.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Set

Edge = tuple[str, str]
Neighbours = Mapping[str, Set[str]]
Finding = Callable[[str], Iterable[str]]
FAR = 1 << 30
SMALL = 200
"""In graphs of so many nodes, every edge that closes no cycle leads to the right."""
LONGEST = 3
"""So many times deeper than the way from the start a layout may be: one job that does many things makes deeper ones."""


def layers_around(start: str, nodes: Set[str], before: Neighbours, after: Neighbours) -> dict[str, int]:
    """The layers of all nodes around `start`, which has layer 0."""
    layers = {start: 0}
    returning = returning_edges(start, nodes, before, after)
    order = in_order(nodes, before, after, returning)
    waiting = nodes - {start}
    while waiting:
        placed = _after_their_sources(order, waiting, before, layers, returning)
        placed |= _before_their_targets(order, waiting - placed, after, layers, returning)
        if not placed:
            lone = min(waiting)  # another part of the graph, without a way to the start
            layers[lone], placed = 0, {lone}
        waiting -= placed
    nearest = _nearest(start, before, after)
    depth = max(map(abs, nearest.values())) + 2
    span = max(layers.values()) - min(layers.values())
    is_tangled = len(nodes) > SMALL and span > 2 * LONGEST * depth
    return layers | nearest if is_tangled else layers


def _nearest(start: str, before: Neighbours, after: Neighbours) -> dict[str, int]:
    """How far each node is from the start, however the edges lead: the next to a node is on the side of its edge."""
    layers, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for others, step in ((before[node], -1), (after[node], 1)):
            for other in sorted(one for one in others if one not in layers):
                layers[other] = layers[node] + step
                waiting.append(other)
    return layers


def layer_beside(new: str, anchor: str, upstream: bool, before: Set[str], after: Set[str], kept: dict[str, int]) -> int:
    """The layer of a node that joins others, which keep theirs.

    Where it cannot follow all of its edges, the one to the node that it was opened from counts.
    """
    first = max((kept[node] + 1 for node in before if node in kept and node != new), default=-FAR)
    last = min((kept[node] - 1 for node in after if node in kept and node != new), default=FAR)
    if first > last:
        return kept[anchor] - 1 if upstream else kept[anchor] + 1
    return last if upstream and last < FAR else first if first > -FAR else last if last < FAR else 0


def _after_their_sources(
    order: list[str], waiting: Set[str], before: Neighbours, layers: dict[str, int], returning: Set[Edge]
) -> set[str]:
    placed = set()
    for node in order:
        if node in waiting:
            sources = [layers[other] for other in before[node] if other in layers and (other, node) not in returning]
            if sources:
                layers[node] = max(sources) + 1
                placed.add(node)
    return placed


def _before_their_targets(
    order: list[str], waiting: Set[str], after: Neighbours, layers: dict[str, int], returning: Set[Edge]
) -> set[str]:
    placed = set()
    for node in reversed(order):
        if node in waiting:
            targets = [layers[other] for other in after[node] if other in layers and (node, other) not in returning]
            if targets:
                layers[node] = min(targets) - 1
                placed.add(node)
    return placed


def returning_edges(start: str, nodes: Set[str], before: Neighbours, after: Neighbours) -> set[Edge]:
    """Edges without which there is no cycle: those that lead back towards the start, or away from it upstream."""
    down, up = _distances(start, after), _distances(start, before)
    upstream = {node for node in nodes if up.get(node, FAR) < down.get(node, FAR)}
    returning = {
        (source, target)
        for target in upstream | {start}
        for source in before[target]
        if (source not in upstream) and (source in down)
    }

    def nearest_first(node: str) -> tuple[int, str]:
        return min(up.get(node, FAR), down.get(node, FAR)), node

    downstream = nodes - upstream
    returning |= _closing(
        sorted(downstream, key=nearest_first), downstream, lambda node: sorted(after[node]), returning
    )
    closing = _closing(sorted(upstream, key=nearest_first), upstream, lambda one: sorted(before[one]), set())
    return returning | {(source, target) for target, source in closing}


def _distances(start: str, towards: Neighbours) -> dict[str, int]:
    found, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for other in towards[node]:
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    return found


def _closing(roots: list[str], within: Set[str], towards: Finding, ignored: Set[Edge]) -> set[Edge]:
    """The edges on which a search in depth meets a node that it has not yet left."""
    closing, entered, left = set[Edge](), set[str](), set[str]()
    for root in roots:
        if root in entered or root not in within:
            continue
        entered.add(root)
        path = [(root, iter(towards(root)))]
        while path:
            node, others = path[-1]
            for other in others:
                if other not in within or (node, other) in ignored:
                    continue
                if other not in entered:
                    entered.add(other)
                    path.append((other, iter(towards(other))))
                    break
                if other not in left:
                    closing.add((node, other))
            else:
                left.add(node)
                path.pop()
    return closing


def in_order(nodes: Set[str], before: Neighbours, after: Neighbours, returning: Set[Edge]) -> list[str]:
    """The nodes so that each comes after its sources."""
    missing = {node: sum((other, node) not in returning for other in before[node]) for node in nodes}
    waiting = deque(sorted(node for node in nodes if not missing[node]))
    order = []
    while waiting:
        node = waiting.popleft()
        order.append(node)
        for other in sorted(after[node]):
            if (node, other) not in returning:
                missing[other] -= 1
                if not missing[other]:
                    waiting.append(other)
    return order
