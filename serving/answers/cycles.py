"""Datasets that are made from each other: the strongly connected components of lineage."""

from collections import defaultdict

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.open_tables import TableSet

Vertex = Pair | str
"""A dataset, or the id of a combination between its inputs and its outputs."""


def components(tables: TableSet) -> dict[Pair, int]:
    """The number of the component of each dataset. Two datasets have the same one if each is made from the other."""
    return tables.derived("cycles", ("job_io", "dataset_nodes"), _components)


def _components(tables: TableSet) -> dict[Pair, int]:
    known = combinations(tables)
    after: dict[Vertex, list[Vertex]] = defaultdict(list)
    for node, io_ids in known.reading.items():
        after[node] += io_ids
    for node, io_ids in known.writing.items():
        for io_id in io_ids:
            after[io_id].append(node)
    return {vertex: number for vertex, number in strongly_connected(after).items() if isinstance(vertex, tuple)}


def strongly_connected(after: dict[Vertex, list[Vertex]]) -> dict[Vertex, int]:
    """The component of each vertex, by Tarjan's algorithm without recursion: lineage may be deeper than the stack."""
    order: dict[Vertex, int] = {}
    low: dict[Vertex, int] = {}
    found: dict[Vertex, int] = {}
    open_: list[Vertex] = []
    for root in list(after):
        if root in order:
            continue
        path = [(root, iter(after[root]))]
        order[root] = low[root] = len(order)
        open_.append(root)
        while path:
            vertex, nexts = path[-1]
            other = next(nexts, None)
            if other is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[vertex])
                if low[vertex] == order[vertex]:
                    _close(vertex, open_, found)
            elif other not in order:
                order[other] = low[other] = len(order)
                open_.append(other)
                path.append((other, iter(after.get(other, ()))))
            elif other not in found:
                low[vertex] = min(low[vertex], order[other])
    return found


def _close(root: Vertex, open_: list[Vertex], found: dict[Vertex, int]) -> None:
    number = len(found)
    while True:
        vertex = open_.pop()
        found[vertex] = number
        if vertex == root:
            return
