"""The lineage graph in memory: jobs and datasets, and the steps that connect them.

A step is one combination of jobs, inputs and outputs (`job_io`), or a pair of datasets from column lineage. A walk
follows steps, not jobs: a job that reads a for b, and c for d, does not connect a to d. Memory and time grow with the
names in the steps, not with the product of inputs and outputs.
"""

import gc
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lineproof.serving.open_tables import TableSet

Kind = Literal["dataset", "job"]
MAX_NODES = 3000
"""A walk ends here: more than this nobody can look at."""


class Node(NamedTuple):
    """A job or a dataset. Datasets have the name that they have in lineage."""

    kind: Kind
    namespace: str
    name: str

    @property
    def id(self) -> str:
        """Its id in answers: KIND:NAMESPACE:NAME. The namespace may contain colons, too."""
        return f"{self.kind}:{self.namespace}:{self.name}"


class Step(NamedTuple):
    """Leads from all inputs to all outputs, through its jobs. Without a job, a dataset event states it."""

    jobs: tuple[Node, ...]
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]


@dataclass(frozen=True)
class Walk:
    """The part of the graph around a node."""

    depths: dict[Node, int]
    """How far each node is from the start, in datasets or jobs: negative upstream, positive downstream."""
    edges: set[tuple[Node, Node]]
    """From source to target: dataset to job, job to dataset; dataset to dataset where no job is known."""
    is_truncated: bool
    """Whether there are more nodes than the limit."""


class LineageGraph:
    """All steps, and which of them each node belongs to."""

    def __init__(self, steps: Iterable[Step], names: dict[tuple[str, str], Node]) -> None:
        self._names = names
        """Other names of datasets, with the node that stands for them."""
        self._writing: dict[Node, list[Step]] = defaultdict(list)
        self._reading: dict[Node, list[Step]] = defaultdict(list)
        self._of_job: dict[Node, list[Step]] = defaultdict(list)
        self._nodes: dict[str, Node] = {}
        for step in steps:
            for nodes, index in (
                (step.inputs, self._reading),
                (step.outputs, self._writing),
                (step.jobs, self._of_job),
            ):
                for node in nodes:
                    index[node].append(step)
                    self._nodes[node.id] = node

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, kind: Kind, namespace: str, name: str) -> Node:
        """The node with this name, or with this other name of a dataset. It need not be in the graph."""
        if kind == "dataset" and (namespace, name) in self._names:
            return self._names[namespace, name]
        return Node(kind, namespace, name)

    def by_id(self, id_: str) -> Node | None:
        """The node with this id; None if there is none. All splits of an ambiguous id are found."""
        found = self._nodes.get(id_)
        if found:
            return found
        kind, _, rest = id_.partition(":")
        for at, character in enumerate(rest):
            if kind == "dataset" and character == ":" and (rest[:at], rest[at + 1 :]) in self._names:
                return self._names[rest[:at], rest[at + 1 :]]
        return None

    def __contains__(self, node: Node) -> bool:
        return node.id in self._nodes

    def before(self, node: Node) -> set[Node]:
        """The nodes with an edge to this one."""
        return {source for source, _ in self._edges_before(node)}

    def after(self, node: Node) -> set[Node]:
        """The nodes with an edge from this one."""
        return {target for _, target in self._edges_after(node)}

    def edges(self) -> Iterator[tuple[Node, Node]]:
        """All edges; one that several steps have comes several times."""
        of_nodes = (*self._reading.values(), *self._writing.values())
        for step in {id(step): step for steps in of_nodes for step in steps}.values():
            middles = step.jobs or step.outputs
            yield from ((source, middle) for source in step.inputs for middle in middles)
            yield from ((job, target) for job in step.jobs for target in step.outputs)

    def walk(self, start: Node, up: int, down: int, limit: int = MAX_NODES) -> Walk:
        """The nodes up to so many edges up- and downstream, nearest first, in the same order for the same graph.

        Upstream gets half of the limit, so that there is room for both sides.
        """
        depths, edges = {start: 0}, set[tuple[Node, Node]]()
        is_truncated = self._follow(start, up, -1, depths, edges, limit // 2 if down else limit)
        is_truncated |= self._follow(start, down, 1, depths, edges, limit)
        return Walk(depths, edges, is_truncated)

    def datasets_upstream(self, node: Node) -> set[Node]:
        """All datasets that a node is made from, to any depth."""
        return {*self._closure(node, upstream=True)}

    def datasets_downstream(self, node: Node) -> set[Node]:
        """All datasets that are made from a node, to any depth."""
        return {*self._closure(node, upstream=False)}

    def depths_downstream(self, node: Node) -> dict[Node, int]:
        """The same with how many datasets away each is, nearest first."""
        return self._closure(node, upstream=False)

    def _closure(self, node: Node, *, upstream: bool) -> dict[Node, int]:
        found, visited = {node: 0}, set[int]()
        waiting = deque([node])
        while waiting:
            at = waiting.popleft()
            for step in self._steps(at, upstream=upstream):
                if id(step) not in visited:
                    visited.add(id(step))
                    new = [one for one in (step.inputs if upstream else step.outputs) if one not in found]
                    found.update((one, found[at] + 1) for one in new)
                    waiting.extend(new)
        del found[node]
        return found

    def _steps(self, node: Node, *, upstream: bool) -> list[Step]:
        index = self._of_job if node.kind == "job" else self._writing if upstream else self._reading
        return index.get(node, [])

    def _follow(
        self, start: Node, depth: int, sign: int, depths: dict[Node, int], edges: set[tuple[Node, Node]], limit: int
    ) -> bool:
        """Walk in one direction, step by step; whether the limit was reached.

        A job stands between the datasets of a step: what leads on from it are the steps through which it was reached.
        """
        upstream = sign < 0
        waiting: deque[tuple[Node, int, tuple[Step, ...]]] = deque([(start, 0, ())])
        seen: dict[Node, set[int]] = {}
        while waiting:
            node, distance, through = waiting.popleft()
            if distance >= depth:
                continue
            for step in through or self._steps(node, upstream=upstream):
                if id(step) in seen.setdefault(node, set()):
                    continue
                seen[node].add(id(step))
                far = step.inputs if upstream else step.outputs
                nexts = far if node.kind == "job" or not step.jobs else step.jobs
                for other in sorted(nexts):
                    if other not in depths:
                        if len(depths) >= limit:
                            return True
                        depths[other] = sign * (distance + 1)
                    edges.add((other, node) if upstream else (node, other))
                    waiting.append((other, distance + 1, (step,) if other.kind == "job" else ()))
        return False

    def _edges_before(self, node: Node) -> Iterator[tuple[Node, Node]]:
        for step in self._steps(node, upstream=True):
            for other in step.inputs if node.kind == "job" or not step.jobs else step.jobs:
                yield other, node

    def _edges_after(self, node: Node) -> Iterator[tuple[Node, Node]]:
        for step in self._steps(node, upstream=False):
            for other in step.outputs if node.kind == "job" or not step.jobs else step.jobs:
                yield node, other


TABLES = ("job_io", "column_lineage", "dataset_nodes")


def lineage_graph(tables: TableSet) -> LineageGraph:
    """The graph of these tables. It is kept until one of the tables that it is made from changes."""
    return tables.derived("lineage graph", TABLES, _build)


def _build(tables: TableSet) -> LineageGraph:
    renamed = tables.query("SELECT namespace, name, node_namespace, node_name FROM dataset_nodes", timeout_s=60)
    names = {(row[0], row[1]): Node("dataset", row[2], row[3]) for row in renamed.rows}
    was_enabled = gc.isenabled()
    gc.disable()  # so many tuples are made here that the collector would go through all of them several times
    try:
        return LineageGraph(_steps(tables, names), names)
    finally:
        if was_enabled:
            gc.enable()


def _steps(tables: TableSet, names: dict[tuple[str, str], Node]) -> Iterator[Step]:
    known: dict[tuple[str, str], Node] = dict(names)

    def dataset(namespace: str, name: str) -> Node:
        key = (namespace, name)
        found = known.get(key)
        if found is None:
            found = known[key] = Node("dataset", namespace, name)
        return found

    def datasets(stated: list[dict[str, str]] | None) -> tuple[Node, ...]:
        return tuple(dict.fromkeys(dataset(one["namespace"], one["name"]) for one in stated or ()))

    for jobs, inputs, outputs in tables.query("SELECT jobs, inputs, outputs FROM job_io", timeout_s=60).rows:
        of_jobs = tuple(Node("job", one["namespace"], one["name"]) for one in jobs or ())
        yield Step(of_jobs, datasets(inputs), datasets(outputs))
    pairs = tables.query(
        """
        SELECT DISTINCT job_namespace, job_name, source_namespace, source_name, target_namespace, target_name
        FROM column_lineage
        WHERE source_name IS NOT NULL AND target_name IS NOT NULL
        """,
        timeout_s=60,
    )
    for job_namespace, job_name, *ends in pairs.rows:
        job = () if job_name is None else (Node("job", job_namespace, job_name),)
        yield Step(job, (dataset(ends[0], ends[1]),), (dataset(ends[2], ends[3]),))
