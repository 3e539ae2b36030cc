"""Coordinates for ordered layers: items keep their distance, and lie as near to their neighbours as that allows."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from lineproof.serving.layout_order import NODE, Item, Order

Heights = Mapping[str, float]

ROUNDS = 3
STRAIGHT = 6
"""So much more a bend is drawn to its neighbours, which makes long edges straight."""


def vertical(order: Order, heights: Heights, gap: float, gap_at_bends: float) -> dict[Item, float]:
    """The middle of each item. The start is near 0; others may be above it."""
    y: dict[Item, float] = {}
    distances = {}
    for layer, items in order.layers.items():
        distances[layer] = _distances(items, heights, gap, gap_at_bends)
        middle = distances[layer][-1] / 2 if items else 0.0
        y.update({item: at - middle for item, at in zip(items, distances[layer], strict=True)})
    nearest = sorted(order.layers, key=lambda layer: (abs(layer), layer))
    for layer in nearest[1:]:
        _draw(order.layers[layer], distances[layer], y, [order.left if layer > 0 else order.right])
    for round_ in range(ROUNDS):
        for layer in nearest if round_ % 2 else reversed(nearest):
            _draw(order.layers[layer], distances[layer], y, [order.left, order.right])
    for layer in nearest[1:]:  # a chain is a straight line
        _draw(order.layers[layer], distances[layer], y, [order.left if layer > 0 else order.right])
    return y


def half_height(item: Item, heights: Heights) -> float:
    """Half the height of a node; a bend has none."""
    return heights[item[1]] / 2 if item[0] == NODE else 0.0


def _distances(items: Sequence[Item], heights: Heights, gap: float, gap_at_bends: float) -> list[float]:
    """The place of each item below the first one if the layer is packed."""
    at, places = 0.0, [0.0] if items else []
    for upper, lower in pairwise(items):
        are_nodes = upper[0] == lower[0] == NODE
        at += (half_height(upper, heights) + half_height(lower, heights)) + (gap if are_nodes else gap_at_bends)
        places.append(at)
    return places


def _draw(
    items: Sequence[Item],
    distances: Sequence[float],
    y: dict[Item, float],
    sides: Iterable[Mapping[Item, Sequence[Item]]],
) -> None:
    """Move the items of a layer towards their neighbours, in their order and at their distances (by isotonic
    regression)."""
    blocks: list[tuple[float, float, int]] = []  # mean of the places left, weight, number of items
    for item, distance in zip(items, distances, strict=True):
        wanted, weight = _wanted(item, y, sides)
        mean, count = wanted - distance, 1
        while blocks and blocks[-1][0] > mean:
            before, weight_before, count_before = blocks.pop()
            mean = (mean * weight + before * weight_before) / (weight + weight_before)
            weight, count = weight + weight_before, count + count_before
        blocks.append((mean, weight, count))
    at = 0
    for mean, _, count in blocks:
        for index in range(at, at + count):
            y[items[index]] = mean + distances[index]
        at += count


def _wanted(item: Item, y: dict[Item, float], sides: Iterable[Mapping[Item, Sequence[Item]]]) -> tuple[float, float]:
    total = weight = 0.0
    for side in sides:
        for other in side.get(item, ()):
            pull = STRAIGHT if item[0] != NODE and other[0] != NODE else 1
            total += pull * y[other]
            weight += pull
    return (total / weight, weight) if weight else (y[item], 0.01)
