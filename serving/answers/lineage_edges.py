"""Rows written and read along the edges of a lineage graph, and where the two disagree.

As the view `reconciliation`, but for the shown edges and the last run of each reader only.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.lineage_runs import (
    Moment,
    find_moments,
    latest,
    row_count,
    run_rows,
    written_before,
)
from lineproof.serving.answers.model import Trust
from lineproof.serving.lineage_graph import Node
from lineproof.serving.open_tables import TableSet

Edge = tuple[Node, Node]


@dataclass(frozen=True)
class Rows:
    """Rows along an edge."""

    written: int | None = None
    read: int | None = None
    trust: Trust | None = None
    note: str | None = None

    @property
    def difference(self) -> int | None:
        """Rows read without rows written; None if one of them is not stated."""
        return None if self.written is None or self.read is None else self.read - self.written


def rows_of_edges(tables: TableSet, edges: Iterable[Edge]) -> dict[Edge, Rows]:
    """Rows of the edges between jobs and datasets."""
    listed = [(edge, _dataset(edge)) for edge in edges if edge[0].kind != edge[1].kind]
    kept = find_moments(tables, {dataset for _, dataset in listed})
    jobs, known = _jobs(tables), combinations(tables)
    last: dict[Edge, Moment] = {}
    for edge, dataset in listed:
        is_write = edge[0].kind == "job"
        job = edge[0] if is_write else edge[1]
        ids = (known.writing if is_write else known.reading).get(dataset, ())
        moments = kept.written if is_write else kept.begun
        moment = latest(moments[io_id] for io_id in ids if (job.namespace, job.name) in jobs.get(io_id, ()))
        if moment:
            last[edge] = moment
    reads = {edge: (_dataset(edge), moment.at) for edge, moment in last.items() if edge[0].kind == "dataset"}
    before = written_before(tables, reads.values())
    rows = run_rows(tables, [moment.run_id for moment in (*last.values(), *before.values())])
    found = {}
    for edge, moment in last.items():
        dataset, run = _dataset(edge), rows.get(moment.run_id, {})
        if edge not in reads:
            found[edge] = Rows(written=row_count(known, run.get("outputs"), dataset))
            continue
        writer = before.get(reads[edge])
        written = row_count(known, rows.get(writer.run_id, {}).get("outputs"), dataset) if writer else None
        found[edge] = _compared(written, row_count(known, run.get("inputs"), dataset))
    return found


def _compared(written: int | None, read: int | None) -> Rows:
    if written is None or read is None:
        return Rows(written, read)
    if written == read:
        return Rows(written, read, "proven", "The last reader read as many rows as were written last.")
    if read < written:
        return Rows(written, read, "broken", "The last reader read fewer rows than were written last.")
    note = "The last reader read more rows than were written last. That is usual for a dataset that grows."
    return Rows(written, read, "unknown", note)


def _dataset(edge: Edge) -> Pair:
    node = edge[0] if edge[0].kind == "dataset" else edge[1]
    return node.namespace, node.name


def _jobs(tables: TableSet) -> dict[str, set[Pair]]:
    """The jobs of each combination."""
    return tables.derived("jobs of combinations", ("job_io",), _find_jobs)


def _find_jobs(tables: TableSet) -> dict[str, set[Pair]]:
    found: dict[str, set[Pair]] = defaultdict(set)
    for io_id, jobs in tables.query("SELECT io_id, jobs FROM job_io", timeout_s=60).rows:
        found[io_id].update((job["namespace"], job["name"]) for job in jobs or ())
    return found
