"""Which name a dataset has in lineage: the end of the chain of symlinks that begins with it."""

from collections.abc import Mapping

Name = tuple[str, str]
"""Namespace and name."""


def resolve_nodes(pointers: Mapping[Name, Name]) -> dict[Name, Name]:
    """The end of the chain for each name that points to another one; of a cycle, the smallest name.

    A name moves only by its own pointer: whoever points to a dataset does not move it. Every name is visited once.
    """
    nodes: dict[Name, Name] = {}
    for start in pointers:
        path: list[Name] = []
        position: dict[Name, int] = {}
        name = start
        while name in pointers and name not in nodes and name not in position:
            position[name] = len(path)
            path.append(name)
            name = pointers[name]
        node = min(path[position[name] :]) if name in position else nodes.get(name, name)
        nodes.update(dict.fromkeys(path, node))
    return {name: node for name, node in nodes.items() if name != node}
