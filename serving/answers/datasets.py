"""Datasets: the list, and the page of one."""

from datetime import datetime
from typing import Any

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.dataset_loads import LastLoads, Load, last_loads, loads
from lineproof.serving.answers.facets import of_column
from lineproof.serving.answers.freshness import DatasetFreshness, dataset_freshness
from lineproof.serving.answers.installation import NOT_KNOWN, Installation
from lineproof.serving.answers.model import (
    Answer,
    Column,
    Name,
    Owner,
    Page,
    Tag,
    Trust,
    owners,
    tags,
)
from lineproof.serving.answers.paging import Key, Paging, page
from lineproof.serving.answers.quality import QualityResult, failed_tests, latest_tests
from lineproof.serving.answers.schemas import SchemaVersion, schema_versions
from lineproof.serving.answers.statement import Conditions, like
from lineproof.serving.lineage_graph import lineage_graph
from lineproof.serving.open_tables import TableSet

KEYS = (Key("namespace"), Key("name"))
_LIST = (
    "SELECT namespace, name, description, dataset_type, coalesce(len(fields), 0) AS fields, last_seen_at FROM datasets"
)
_SOURCES = """
SELECT DISTINCT target_field, source_namespace, source_name, source_field FROM column_edges
WHERE target_namespace = ? AND target_name = ? AND target_field IS NOT NULL
ORDER BY ALL
"""


class _Dataset(Answer):
    namespace: str
    name: str
    description: str | None
    dataset_type: str | None
    last_loaded_at: datetime | None
    row_count: int | None
    size: int | None
    trust: Trust
    reason: str
    tests_failed: int
    last_seen_at: datetime | None


class DatasetSummary(_Dataset):
    """A dataset in a list."""

    fields: int


class DescribedField(Answer):
    """A column, and the columns that it is made from."""

    name: str | None
    type: str | None
    description: str | None
    tags: list[Tag]
    sources: list[Column]


class Dataset(_Dataset):
    """Everything about one dataset, under the name that it has in lineage."""

    aliases: list[Name]
    """Other names of the same dataset."""
    owners: list[Owner]
    tags: list[Tag]
    fields: list[DescribedField]
    source_uri: str | None
    version: str | None
    lifecycle_state: str | None
    gdpr_category: str | None
    residency: str | None
    quality_score: float | None
    test_pass_rate: float | None
    freshness: DatasetFreshness
    loads: list[Load]
    tests: list[QualityResult]
    schemas: list[SchemaVersion]
    produced_by: list[Name]
    consumed_by: list[Name]
    upstream: int
    downstream: int
    facets: dict[str, Any]
    first_seen_at: datetime | None


def datasets(
    tables: TableSet, q: str | None, tag: str | None, namespace: str | None, paging: Paging
) -> Page[DatasetSummary]:
    """Datasets by name. `tag` is a key, or key=value."""
    conditions = Conditions()
    conditions.equal("namespace", namespace)
    if q:
        conditions.add(r"(name ILIKE ? ESCAPE '\' OR namespace ILIKE ? ESCAPE '\')", like(q), like(q))
    if tag:
        key, is_pair, value = tag.partition("=")
        condition = "tag.key = ? AND tag.value = ?" if is_pair else "tag.key = ?"
        conditions.add(f"len(list_filter(tags, lambda tag: {condition})) > 0", *((key, value) if is_pair else (key,)))
    found = page(tables, f"{_LIST} {conditions.where}", conditions.parameters, KEYS, paging)
    known = combinations(tables)
    nodes = [known.node(row["namespace"], row["name"]) for row in found.rows]
    of_node = last_loads(tables, nodes)
    failed = failed_tests(tables, [(row["namespace"], row["name"]) for row in found.rows])
    items = [
        DatasetSummary(**row, **_trusted(of_node.get(node), failed.get((row["namespace"], row["name"]), 0)))
        for node, row in zip(nodes, found.rows, strict=True)
    ]
    return Page(items=items, next_cursor=found.next_cursor, sql=found.sql)


def dataset(tables: TableSet, namespace: str, name: str, installation: Installation = NOT_KNOWN) -> Dataset | None:
    """The dataset with this name or other name; None if nothing names it."""
    known = combinations(tables)
    node = known.node(namespace, name)
    row = _row(tables, node) or _row(tables, (namespace, name))
    graph = lineage_graph(tables)
    in_graph = graph.node("dataset", *node)
    if row is None and in_graph not in graph:
        return None
    row = row or {}
    names = sorted(known.all_names(node))
    of_dataset = loads(tables, node)
    last = last_loads(tables, [node]).get(node)
    tests = latest_tests(tables, names)
    counted = [test.success for test in tests if test.success is not None]
    pass_rate = sum(counted) / len(counted) if counted else None
    copied = (
        *("description", "dataset_type", "source_uri", "version", "lifecycle_state", "gdpr_category", "residency"),
        *("first_seen_at", "last_seen_at"),
    )
    score = row.get("quality_score")
    return Dataset(
        namespace=node[0],
        name=node[1],
        **_trusted(last, counted.count(False)),
        **{column: row.get(column) for column in copied},
        aliases=[Name(namespace=one, name=other) for one, other in names if (one, other) != node],
        owners=owners(row.get("owners")),
        tags=tags(row.get("tags")),
        fields=_fields(tables, node, row),
        quality_score=pass_rate if score is None else score,
        test_pass_rate=pass_rate,
        freshness=dataset_freshness(tables, installation, node),
        loads=of_dataset,
        tests=tests,
        schemas=schema_versions(tables, *node),
        produced_by=_named(known.writers.get(node, {})),
        consumed_by=_named(known.readers.get(node, {})),
        upstream=len(graph.datasets_upstream(in_graph)),
        downstream=len(graph.datasets_downstream(in_graph)),
        facets=of_column(row.get("facets")),
    )


def _row(tables: TableSet, node: Pair) -> dict[str, Any] | None:
    return tables.row("SELECT * FROM datasets WHERE namespace = ? AND name = ?", *node)


def _trusted(last: LastLoads | None, tests_failed: int) -> dict[str, Any]:
    loaded = last.successful if last else None
    trust, reason = trust_of_dataset(last, tests_failed)
    return {
        "trust": trust,
        "reason": reason,
        "tests_failed": tests_failed,
        "last_loaded_at": loaded.ended_at if loaded else None,
        "row_count": loaded.row_count if loaded else None,
        "size": loaded.size if loaded else None,
    }


def trust_of_dataset(last: LastLoads | None, tests_failed: int) -> tuple[Trust, str]:
    """The trust in what a dataset holds now: its tests, and the latest run that wrote it."""
    if tests_failed:
        return "broken", f"{tests_failed} test{'s' if tests_failed > 1 else ''} failed"
    if last is None or last.last is None:
        return "unknown", "no run that writes it is known"
    newest = last.last
    if newest.trust == "broken":
        return "broken", f"last load: {newest.reason}"
    if newest.trust == "running" and last.successful:
        return last.successful.trust, f"last load: {last.successful.reason}; another one is running"
    return newest.trust, f"last load: {newest.reason}"


def _fields(tables: TableSet, node: Pair, row: dict[str, Any]) -> list[DescribedField]:
    sources: dict[str, list[Column]] = {}
    for field, namespace, name, source in tables.query(_SOURCES, *node).rows:
        sources.setdefault(field, []).append(Column(namespace=namespace, name=name, field=source or ""))
    of_field: dict[str, list[Tag]] = {}
    for tag in tags(row.get("tags")):
        if tag.field is not None:
            of_field.setdefault(tag.field, []).append(tag)
    return [
        DescribedField(
            name=one["name"],
            type=one["type"],
            description=one["description"],
            tags=of_field.get(one["name"], []),
            sources=sources.get(one["name"], []),
        )
        for one in row.get("fields") or ()
    ]


def _named(pairs: dict[Pair, None]) -> list[Name]:
    return [Name(namespace=namespace, name=name) for namespace, name in sorted(pairs)]
