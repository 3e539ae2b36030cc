"""The names of all datasets in memory. A dataset that is the same as another one is known by its name in lineage."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from lineproof.serving.api.marquez.values import Name
from lineproof.serving.open_tables import TableSet

_STATED = """
SELECT namespace, name, min(first_seen_at), max(last_seen_at)
FROM (
    SELECT namespace, name, first_seen_at, last_seen_at FROM datasets
    UNION ALL
    SELECT source_namespace, source_name, first_seen_at, last_seen_at FROM column_lineage
    UNION ALL
    SELECT target_namespace, target_name, first_seen_at, last_seen_at FROM column_lineage
)
WHERE namespace IS NOT NULL AND name IS NOT NULL
GROUP BY namespace, name
ORDER BY namespace, name
"""
TABLES = ("datasets", "dataset_nodes", "column_lineage")


@dataclass(eq=False)
class KnownDataset:
    """A dataset by its name in lineage, with the other names that events give it."""

    namespace: str
    name: str
    created_at: datetime | None = None
    updated_at: datetime | None = None
    others: tuple[Name, ...] = ()

    @property
    def names(self) -> tuple[Name, ...]:
        """All names, that in lineage first."""
        return ((self.namespace, self.name), *self.others)


class DatasetIndex:
    """The datasets by all of their names, and by namespace in order of their names."""

    def __init__(self, datasets: dict[Name, KnownDataset], nodes: dict[Name, Name]) -> None:
        self.by_node, self._nodes = datasets, nodes
        self.ordered = sorted(datasets.values(), key=lambda dataset: (dataset.namespace, dataset.name))
        self.of_namespace: dict[str, list[KnownDataset]] = defaultdict(list)
        for dataset in self.ordered:
            self.of_namespace[dataset.namespace].append(dataset)

    def get(self, namespace: str, name: str) -> KnownDataset | None:
        """The dataset with this name."""
        return self.by_node.get(self._nodes.get((namespace, name), (namespace, name)))


def dataset_index(tables: TableSet) -> DatasetIndex:
    """The datasets of these tables, kept until one of the tables changes."""
    return tables.derived("marquez datasets", TABLES, _build)


def _build(tables: TableSet) -> DatasetIndex:
    renamed = tables.query("SELECT namespace, name, node_namespace, node_name FROM dataset_nodes", timeout_s=60).rows
    nodes = {(row[0], row[1]): (row[2], row[3]) for row in renamed}
    datasets: dict[Name, KnownDataset] = {}
    for namespace, name, first_at, last_at in tables.query(_STATED, timeout_s=60).rows:
        stated = (namespace, name)
        node = nodes.get(stated, stated)
        dataset = datasets.setdefault(node, KnownDataset(*node))
        dataset.created_at = min(filter(None, (dataset.created_at, first_at)), default=None)
        # `last_seen_at` is the hour of the latest event, which began before the first one.
        dataset.updated_at = max(filter(None, (dataset.updated_at, first_at, last_at)), default=None)
        if stated != node:
            dataset.others = (*dataset.others, stated)
    return DatasetIndex(datasets, nodes)
