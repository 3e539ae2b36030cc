"""What is downstream of a dataset or a column, nearest first, with whom to ask."""

from collections import defaultdict, deque
from collections.abc import Collection

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.model import Answer, Name, Owner, Page, owners
from lineproof.serving.answers.paging import Paging, slice_of
from lineproof.serving.answers.statement import Statement
from lineproof.serving.lineage_graph import Node, lineage_graph
from lineproof.serving.open_tables import TableSet

MAX_AFFECTED = 10_000
_SQL = "SELECT depth, namespace, name FROM lineage_downstream(?, ?) ORDER BY depth, namespace, name"
_EDGES = """
SELECT source_namespace, source_name, source_field, target_namespace, target_name, target_field, job_namespace, job_name
FROM column_edges
"""

Field = tuple[str, str, str | None]


class Affected(Answer):
    """A dataset or column that depends on what was asked for."""

    namespace: str
    name: str
    field: str | None
    depth: int
    jobs: list[Name]
    """The jobs that write it."""
    owners: list[Owner]


def impact(tables: TableSet, namespace: str, name: str, field: str | None, paging: Paging) -> Page[Affected]:
    """Datasets downstream of a dataset, or columns downstream of a column."""
    node = combinations(tables).node(namespace, name)
    if field is None:
        found = _datasets(tables, node)
        sql = Statement(_SQL, (namespace, name)).shown()
    else:
        found = _columns(tables, (*node, field))
        sql = (
            "SELECT * FROM column_edges WHERE "
            + Statement("source_namespace = ? AND source_name = ? AND source_field = ?", (*node, field)).shown()
        )
    items, cursor = slice_of(found, paging)
    of_dataset = _owners(tables, items)
    filled = [
        Affected(
            namespace=one[0][0],
            name=one[0][1],
            field=one[0][2],
            depth=one[1],
            jobs=[Name(namespace=job[0], name=job[1]) for job in sorted(one[2])],
            owners=of_dataset.get(one[0][:2], []),
        )
        for one in items
    ]
    return Page(items=filled, next_cursor=cursor, sql=sql)


_Found = tuple[Field, int, Collection[Pair]]


def _datasets(tables: TableSet, node: Pair) -> list[_Found]:
    known = combinations(tables)
    depths = lineage_graph(tables).depths_downstream(Node("dataset", *node))
    nearest = sorted((depth, one.namespace, one.name) for one, depth in depths.items())[:MAX_AFFECTED]
    return [
        ((namespace, name, None), depth, known.writers.get((namespace, name), {}).keys())
        for depth, namespace, name in nearest
    ]


def _columns(tables: TableSet, start: Field) -> list[_Found]:
    """A column that decides which rows a dataset has (no target column) has an impact on all of its columns."""
    edges = tables.derived("column edges by source", ("column_lineage", "dataset_nodes"), _edges)
    depths: dict[Field, int] = {start: 0}
    jobs: dict[Field, set[Pair]] = defaultdict(set)
    waiting = deque([start])
    while waiting and len(depths) <= MAX_AFFECTED:
        at = waiting.popleft()
        for target, job in edges.get(at, ()):
            if job:
                jobs[target].add(job)
            if target not in depths:
                depths[target] = depths[at] + 1
                waiting.append(target)
    return [(one, depth, jobs[one]) for one, depth in depths.items() if one != start]


def _edges(tables: TableSet) -> dict[Field, list[tuple[Field, Pair | None]]]:
    found: dict[Field, list[tuple[Field, Pair | None]]] = defaultdict(list)
    for row in tables.query(_EDGES, timeout_s=60).rows:
        job = (row[6], row[7]) if row[7] is not None else None
        edge = ((row[3], row[4], row[5]), job)
        found[row[0], row[1], row[2]].append(edge)
        found[row[0], row[1], None].append(edge)
    return found


def _owners(tables: TableSet, items: list[_Found]) -> dict[Pair, list[Owner]]:
    """Of the dataset; if it has none, of the jobs that write it."""
    pairs = {one[0][:2] for one in items} | {job for one in items for job in one[2]}
    structs = [{"namespace": namespace, "name": name} for namespace, name in sorted(pairs)]
    if not structs:
        return {}
    stated: dict[str, dict[Pair, list[Owner]]] = {"datasets": {}, "jobs": {}}
    for table, found in stated.items():
        query = (
            f"SELECT namespace, name, owners FROM {table} "
            "WHERE len(owners) > 0 AND {'namespace': namespace, 'name': name} IN ?"
        )
        for namespace, name, of_entity in tables.query(query, structs).rows:
            found[namespace, name] = owners(of_entity)
    return {
        one[0][:2]: stated["datasets"].get(one[0][:2])
        or list(dict.fromkeys(owner for job in sorted(one[2]) for owner in stated["jobs"].get(job, ())))
        for one in items
    }
