"""The columns that columns are made from, in memory."""

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from lineproof.serving.api.marquez.values import Document
from lineproof.serving.lineage_graph import MAX_NODES
from lineproof.serving.open_tables import TableSet

_EDGES = """
SELECT source_namespace, source_name, source_field, target_namespace, target_name, target_field, transformations,
    job_namespace, job_name
FROM column_edges
WHERE target_namespace IS NOT NULL AND target_name IS NOT NULL AND target_field IS NOT NULL
ORDER BY ALL
"""


class Field(NamedTuple):
    """A column of a dataset."""

    namespace: str
    dataset: str
    name: str

    @property
    def id(self) -> str:
        """Its id in answers."""
        return f"datasetField:{self.namespace}:{self.dataset}:{self.name}"


@dataclass(frozen=True)
class Source:
    """A column that another one is made from, and how."""

    field: Field
    transformation_type: str | None
    transformation_description: str | None

    @property
    def document(self) -> Document:
        """As Marquez shows it."""
        return {
            "namespace": self.field.namespace,
            "dataset": self.field.dataset,
            "datasetVersion": None,
            "field": self.field.name,
            "transformationDescription": self.transformation_description,
            "transformationType": self.transformation_type,
        }


class ColumnGraph:
    """Sources and targets of each column."""

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self.sources: dict[Field, dict[Field, Source]] = defaultdict(dict)
        self.targets: dict[Field, dict[Field, None]] = defaultdict(dict)
        self.of_job: dict[tuple[str, str], set[Field]] = defaultdict(set)
        self._fields: dict[tuple[str, str], set[Field]] = defaultdict(set)
        self.by_id: dict[str, Field] = {}
        known: dict[Field, Field] = {}
        for row in rows:
            source, target = (known.setdefault(field, field) for field in (Field(*row[:3]), Field(*row[3:6])))
            self.sources[target][source] = Source(source, *_described(row[6]))
            self.targets[source][target] = None
            if row[8] is not None:
                self.of_job[row[7], row[8]].add(target)
        for field in known:
            self._fields[field.namespace, field.dataset].add(field)
            self.by_id[field.id] = field

    def fields(self, namespace: str, dataset: str) -> list[Field]:
        """The columns of a dataset that are in the graph."""
        return sorted(self._fields.get((namespace, dataset), ()))

    def of_dataset(self, namespace: str, dataset: str) -> list[Document]:
        """The sources of all columns of a dataset."""
        return [
            {"name": field.name, "inputFields": self.inputs(field)}
            for field in self.fields(namespace, dataset)
            if field in self.sources
        ]

    def inputs(self, field: Field) -> list[Document]:
        """The sources of a column."""
        return [source.document for source in self.sources.get(field, {}).values()]

    def walk(self, starts: Iterable[Field], depth: int, *, downstream: bool) -> list[Field]:
        """The columns up to so many steps upstream, and downstream if that is asked for; the nearest first."""
        begin = list(dict.fromkeys(starts))
        found = dict.fromkeys(begin)
        for neighbours in (self.sources, self.targets) if downstream else (self.sources,):
            waiting, seen = deque((field, 0) for field in begin), set(begin)
            while waiting and len(found) < MAX_NODES:
                field, distance = waiting.popleft()
                if distance >= depth:
                    continue
                for other in neighbours.get(field, ()):
                    if other not in seen:
                        seen.add(other)
                        found[other] = None
                        waiting.append((other, distance + 1))
        return [*found][:MAX_NODES]


def _described(transformations: list[dict[str, Any]] | None) -> tuple[str | None, str | None]:
    """Type and description: Marquez shows one of each."""
    first = next(iter(transformations or ()), None)
    return (first["subtype"] or first["type"], first["description"]) if first else (None, None)


def column_graph(tables: TableSet) -> ColumnGraph:
    """The graph of these tables, kept until one of them changes."""
    return tables.derived(
        "marquez columns",
        ("column_lineage", "dataset_nodes"),
        lambda current: ColumnGraph(current.query(_EDGES, timeout_s=60).rows),
    )
