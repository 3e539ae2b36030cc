"""Where a dataset comes from or goes to, with the trust in every dataset on the way."""

from typing import Any

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.dataset_loads import LastLoads, last_loads
from lineproof.serving.answers.datasets import trust_of_dataset
from lineproof.serving.answers.model import Trust
from lineproof.serving.answers.quality import failed_tests
from lineproof.serving.lineage_graph import Node, Walk, lineage_graph
from lineproof.serving.open_tables import TableSet

MAX_NODES = 200
NAMED = 5
_WORST_FIRST: tuple[Trust, ...] = ("broken", "unknown", "running", "proven")


def chain(tables: TableSet, namespace: str, name: str, up: int, down: int) -> dict[str, Any] | None:
    """The graph as nodes and edges; None if nobody knows the dataset."""
    node = Node("dataset", *combinations(tables).node(namespace, name))
    graph = lineage_graph(tables)
    if node not in graph and not _is_listed(tables, node):
        return None
    walk = graph.walk(node, 2 * up, 2 * down, MAX_NODES)
    ids = {one: f"{one.kind[0]}{number}" for number, one in enumerate(walk.depths, 1)}
    trusted = _trusted(tables, [(one.namespace, one.name) for one in walk.depths if one.kind == "dataset"])
    nodes = [
        {
            **{"id": ids[one], "kind": one.kind, "namespace": one.namespace, "name": one.name, "steps": depth},
            **(trusted[one.namespace, one.name] if one.kind == "dataset" else {}),
        }
        for one, depth in walk.depths.items()
    ]
    return {
        "asked": ids[node],
        "nodes": nodes,
        "edges": sorted(f"{ids[source]} -> {ids[target]}" for source, target in walk.edges),
        "has_more": walk.is_truncated or _has_more(walk, up, down) or (up == 0 and bool(graph.before(node))),
    }


def verdict(found: dict[str, Any]) -> tuple[Trust, str]:
    """A dataset is worth as much as the worst of all that it is made from."""
    made_from = [one for one in found["nodes"] if one["kind"] == "dataset" and one["steps"] <= 0]
    worst: Trust = min((one["trust"] for one in made_from), key=_WORST_FIRST.index)
    of_worst = sorted((one for one in made_from if one["trust"] == worst), key=lambda one: -one["steps"])
    if worst == "proven" and found["has_more"]:
        return "unknown", f"the {len(made_from)} nearest datasets are proven, and there are more"
    if worst == "proven":
        return "proven", f"the latest loads of all {len(made_from)} datasets are proven"
    named = "; ".join(f"{one['name'][:200]}: {one['reason']}" for one in of_worst[:NAMED])
    more = f"; and {len(of_worst) - NAMED} more" if len(of_worst) > NAMED else ""
    return worst, f"{len(of_worst)} of {len(made_from)} datasets: {named}{more}"


def _trusted(tables: TableSet, pairs: list[Pair]) -> dict[Pair, dict[str, Any]]:
    loads = last_loads(tables, pairs)
    known = combinations(tables)
    names = {pair: known.all_names(pair) for pair in pairs}
    failed = failed_tests(tables, sorted({one for of_pair in names.values() for one in of_pair})) if pairs else {}
    return {pair: _of_dataset(loads.get(pair), sum(failed.get(one, 0) for one in names[pair])) for pair in pairs}


def _of_dataset(loads: LastLoads | None, tests_failed: int) -> dict[str, Any]:
    trust, reason = trust_of_dataset(loads, tests_failed)
    last = loads.last if loads else None
    of_load = last.model_dump(mode="json", include={"run_id", "job", "ended_at", "row_count"}) if last else None
    return {"trust": trust, "reason": reason, "last_load": of_load}


def _has_more(walk: Walk, up: int, down: int) -> bool:
    """Whether the walk reached its depth: then nobody has looked behind it."""
    depths = walk.depths.values()
    return min(depths) <= -2 * up < 0 or max(depths) >= 2 * down > 0


def _is_listed(tables: TableSet, node: Node) -> bool:
    found = tables.row("SELECT 1 AS one FROM datasets WHERE namespace = ? AND name = ?", node.namespace, node.name)
    return found is not None
