"""Which columns columns are made from, read for the datasets that a path may lead through."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.statement import one_of
from lineproof.serving.open_tables import TableSet

ColumnKey = tuple[Pair, str | None]
"""A dataset, and a column of it; None for the rows of the dataset."""
_READ = """
SELECT
    job_namespace, job_name, source_namespace, source_name, source_field, target_namespace, target_name, target_field,
    transformations
FROM column_lineage
WHERE {of_names}
"""


@dataclass
class ColumnEdge:
    """One column that another one, or the rows of a dataset, depends on."""

    source: ColumnKey
    target: ColumnKey
    jobs: list[Pair] = field(default_factory=list)
    transformations: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class ColumnEdges:
    """The edges that were read so far from this version of the table."""

    into: dict[Pair, list[ColumnEdge]] = field(default_factory=dict)
    """By the dataset that they lead to."""
    out_of: dict[Pair, list[ColumnEdge]] = field(default_factory=dict)


def column_edges(tables: TableSet) -> ColumnEdges:
    """What is known already of this version."""
    return tables.derived("column edges", ("column_lineage", "dataset_nodes"), lambda _: ColumnEdges())


def edges_into(tables: TableSet, datasets: Iterable[Pair]) -> dict[Pair, list[ColumnEdge]]:
    """The edges that lead to columns of these datasets."""
    return _read(tables, column_edges(tables).into, datasets, "target")


def edges_out_of(tables: TableSet, datasets: Iterable[Pair]) -> dict[Pair, list[ColumnEdge]]:
    """The edges that lead from columns of these datasets."""
    return _read(tables, column_edges(tables).out_of, datasets, "source")


def _read(
    tables: TableSet, kept: dict[Pair, list[ColumnEdge]], datasets: Iterable[Pair], end: str
) -> dict[Pair, list[ColumnEdge]]:
    known = combinations(tables)
    missing = {dataset for dataset in datasets if dataset not in kept}
    if missing:
        names = sorted({name for dataset in missing for _, name in known.all_names(dataset)})
        found: dict[Pair, dict[tuple[ColumnKey, ColumnKey], ColumnEdge]] = defaultdict(dict)
        for row in tables.rows(_READ.format(of_names=one_of(f"{end}_name", names)), *names):
            source = known.node(row["source_namespace"], row["source_name"]), row["source_field"]
            target = known.node(row["target_namespace"], row["target_name"]), row["target_field"]
            of_dataset = found[target[0] if end == "target" else source[0]]
            edge = of_dataset.setdefault((source, target), ColumnEdge(source, target))
            if row["job_name"] is not None:
                edge.jobs.append((row["job_namespace"], row["job_name"]))
            edge.transformations += row["transformations"] or ()
        kept.update({dataset: [*found.get(dataset, {}).values()] for dataset in missing})
    return kept
