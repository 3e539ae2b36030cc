"""The datasets that jobs read and write."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from lineproof.serving.answers.combinations import TABLES, Pair, combinations
from lineproof.serving.answers.model import Answer
from lineproof.serving.open_tables import TableSet

_TIMES = """
SELECT io_id, max(last_seen_at) AS last_seen_at FROM (
    SELECT io_id, last_event_at AS last_seen_at FROM runs WHERE job_namespace = ? AND job_name = ? AND io_id IS NOT NULL
    UNION ALL
    SELECT io_id, event_time FROM lineage_events WHERE job_namespace = ? AND job_name = ? AND io_id IS NOT NULL
)
GROUP BY io_id
"""


class JobDataset(Answer):
    """A dataset of a job."""

    namespace: str
    name: str
    last_seen_at: datetime | None
    """When the job last read or wrote it; None if no run and no job event says so any more."""


@dataclass(frozen=True)
class DatasetsOfJobs:
    """For each job, its datasets, with the combinations that name them."""

    inputs: dict[Pair, dict[Pair, list[str]]] = field(default_factory=lambda: defaultdict(dict))
    outputs: dict[Pair, dict[Pair, list[str]]] = field(default_factory=lambda: defaultdict(dict))


def datasets_of_jobs(tables: TableSet) -> DatasetsOfJobs:
    """All of them, kept until one of the tables changes."""
    return tables.derived("datasets of jobs", TABLES, _build)


def _build(tables: TableSet) -> DatasetsOfJobs:
    known, found = combinations(tables), DatasetsOfJobs()
    rows = tables.query("SELECT io_id, jobs, inputs, outputs FROM job_io", timeout_s=60).rows
    for io_id, jobs, inputs, outputs in rows:
        for job in jobs or ():
            pair = (job["namespace"], job["name"])
            for datasets, of_job in ((inputs, found.inputs[pair]), (outputs, found.outputs[pair])):
                for dataset in datasets or ():
                    of_job.setdefault(known.node(dataset["namespace"], dataset["name"]), []).append(io_id)
    return found


def datasets_of(tables: TableSet, job: Pair) -> tuple[list[JobDataset], list[JobDataset]]:
    """Inputs and outputs of one job, those of its latest events first."""
    found = datasets_of_jobs(tables)
    times = dict(tables.query(_TIMES, *job, *job).rows)
    inputs, outputs = (
        [_dataset(node, io_ids, times) for node, io_ids in side.get(job, {}).items()]
        for side in (found.inputs, found.outputs)
    )
    return _sorted(inputs), _sorted(outputs)


def _dataset(node: Pair, io_ids: list[str], times: dict[str, datetime]) -> JobDataset:
    seen = max((times[io_id] for io_id in io_ids if io_id in times), default=None)
    return JobDataset(namespace=node[0], name=node[1], last_seen_at=seen)


def _sorted(datasets: list[JobDataset]) -> list[JobDataset]:
    by_name = sorted(datasets, key=lambda one: (one.namespace, one.name))
    seen = [one for one in by_name if one.last_seen_at]
    never = [one for one in by_name if not one.last_seen_at]
    return sorted(seen, key=lambda one: one.last_seen_at or datetime.min, reverse=True) + never
