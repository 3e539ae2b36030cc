"""Which combinations of jobs, inputs and outputs (`job_io`) write and read a dataset: the short way to its runs.

`runs.io_id` names the combination of a run, so the runs of a dataset are found without reading the nested columns of
all runs. Datasets are known by the name that they have in lineage.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from lineproof.serving.open_tables import TableSet

Pair = tuple[str, str]
TABLES = ("job_io", "dataset_nodes")


@dataclass(frozen=True)
class Combinations:
    """Namespace and name of each dataset, with the ids of combinations and the names of jobs."""

    nodes: dict[Pair, Pair] = field(default_factory=dict)
    """Other names of a dataset, with its name in lineage."""
    aliases: dict[Pair, list[Pair]] = field(default_factory=lambda: defaultdict(list))
    """The names of a dataset besides that in lineage."""
    writing: dict[Pair, list[str]] = field(default_factory=lambda: defaultdict(list))
    reading: dict[Pair, list[str]] = field(default_factory=lambda: defaultdict(list))
    writers: dict[Pair, dict[Pair, None]] = field(default_factory=lambda: defaultdict(dict))
    readers: dict[Pair, dict[Pair, None]] = field(default_factory=lambda: defaultdict(dict))

    def node(self, namespace: str, name: str) -> Pair:
        """The name that a dataset has in lineage."""
        return self.nodes.get((namespace, name), (namespace, name))

    def all_names(self, node: Pair) -> set[Pair]:
        """All names of a dataset."""
        return {node, *self.aliases.get(node, ())}


def combinations(tables: TableSet) -> Combinations:
    """The combinations of these tables, kept until one of the tables changes."""
    return tables.derived("combinations", TABLES, _build)


def _build(tables: TableSet) -> Combinations:
    found = Combinations()
    renamed = tables.query("SELECT namespace, name, node_namespace, node_name FROM dataset_nodes", timeout_s=60)
    for namespace, name, node_namespace, node_name in renamed.rows:
        node = (node_namespace, node_name)
        found.nodes[namespace, name] = node
        if (namespace, name) != node:
            found.aliases[node].append((namespace, name))
    rows = tables.query("SELECT io_id, jobs, inputs, outputs FROM job_io", timeout_s=60).rows
    for io_id, jobs, inputs, outputs in rows:
        of_jobs = dict.fromkeys((job["namespace"], job["name"]) for job in jobs or ())
        for datasets, ids, names in (
            (inputs, found.reading, found.readers),
            (outputs, found.writing, found.writers),
        ):
            for dataset in datasets or ():
                node = found.node(dataset["namespace"], dataset["name"])
                ids[node].append(io_id)
                names[node] |= of_jobs
    return found
