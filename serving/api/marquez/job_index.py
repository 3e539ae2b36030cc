"""All jobs in memory, each with its latest run: what lists, the graph and the search need of every job at once."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from lineproof.serving.api.marquez.values import Name
from lineproof.serving.open_tables import TableSet

RUN = """{
    'run_id': run_id, 'state': state, 'started_at': started_at, 'ended_at': ended_at, 'duration_ms': duration_ms,
    'nominal': nominal, 'first_event_at': first_event_at, 'last_event_at': last_event_at, 'io_id': io_id
}"""
"""SQL: the columns that describe a run in lists."""
BEGAN = "coalesce(started_at, first_event_at)"
"""SQL: the time by which runs are ordered."""
OF_A_JOB = "job_namespace IS NOT NULL AND job_name IS NOT NULL"

# `last_seen_at` is the hour of the latest event, which began before the first one.
_JOBS = "SELECT namespace, name, first_seen_at, greatest(first_seen_at, last_seen_at) FROM jobs"
# A join with the latest time of each job took less time than the latest row by an aggregate.
_RUNS = f"""
WITH times AS (
    SELECT job_namespace, job_name, min(first_event_at) AS first_at, max(last_event_at) AS last_at,
        max({BEGAN}) AS latest
    FROM runs
    WHERE {OF_A_JOB}
    GROUP BY job_namespace, job_name
)
SELECT job_namespace, job_name, first_at, last_at, {RUN}, parent
FROM runs
JOIN times USING (job_namespace, job_name)
WHERE {BEGAN} = latest
ORDER BY run_id
"""  # noqa: S608
_LONG_AGO = datetime(1, 1, 1, tzinfo=timezone.utc)


@dataclass
class KnownJob:
    """A job and its latest run."""

    namespace: str
    name: str
    created_at: datetime | None
    updated_at: datetime | None
    latest_run: dict[str, Any] | None = None
    parent: dict[str, Any] | None = None

    @property
    def state(self) -> str | None:
        """The state of its latest run."""
        return self.latest_run["state"] if self.latest_run else None


class JobIndex:
    """The jobs by name, and in the order in which Marquez lists them: the latest change first."""

    def __init__(self, jobs: dict[Name, KnownJob]) -> None:
        self.by_name = jobs
        self.ordered = sorted(jobs.values(), key=lambda job: (job.namespace, job.name))
        self.ordered.sort(key=lambda job: job.updated_at or _LONG_AGO, reverse=True)
        self.of_namespace: dict[str, list[KnownJob]] = defaultdict(list)
        for job in self.ordered:
            self.of_namespace[job.namespace].append(job)

    def listed(self, namespace: str | None, states: list[str]) -> list[KnownJob]:
        """The jobs of a namespace, or all; only those whose latest run has one of the states, if any is named."""
        jobs = self.ordered if namespace is None else self.of_namespace.get(namespace, [])
        return [job for job in jobs if job.state in states] if states else jobs

    def __iter__(self) -> Iterator[KnownJob]:
        return iter(self.ordered)


def job_index(tables: TableSet) -> JobIndex:
    """The jobs of these tables, kept until one of the tables changes."""
    return tables.derived("marquez jobs", ("jobs", "runs"), _build)


def _build(tables: TableSet) -> JobIndex:
    jobs = {(row[0], row[1]): KnownJob(*row) for row in tables.query(_JOBS, timeout_s=60).rows}
    for namespace, name, first_at, last_at, latest_run, parent in tables.query(_RUNS, timeout_s=60).rows:
        job = jobs.setdefault((namespace, name), KnownJob(namespace, name, None, None))
        job.created_at = min(filter(None, (job.created_at, first_at)), default=None)
        job.updated_at = _latest(job.updated_at, last_at)
        job.latest_run, job.parent = latest_run, parent
    return JobIndex(jobs)


def _latest(hour: datetime | None, of_runs: datetime | None) -> datetime | None:
    """`last_seen_at` of a job is the hour of its latest event. Its runs have the exact time, if they are the latest."""
    if hour is None or of_runs is None:
        return of_runs or hour
    return of_runs if of_runs + timedelta(hours=1) > hour else hour
