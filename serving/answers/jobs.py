"""Jobs: the list, and the page of one."""

from datetime import datetime
from typing import Any

from lineproof.serving.answers.combinations import Pair
from lineproof.serving.answers.facets import of_column
from lineproof.serving.answers.job_datasets import JobDataset, datasets_of, datasets_of_jobs
from lineproof.serving.answers.model import Answer, Name, Owner, Page, Tag, owners, tags
from lineproof.serving.answers.paging import Key, Paging, page
from lineproof.serving.answers.run import RunLink, documentation_url
from lineproof.serving.answers.runs import RunFilter, RunSummary, runs, summaries_of
from lineproof.serving.answers.statement import Conditions, like, one_of
from lineproof.serving.open_tables import TableSet

RUNS = 100
KEYS = (Key("namespace"), Key("name"))
_LIST = "SELECT namespace, name, description, last_seen_at FROM jobs"
_LAST_RUNS = """
SELECT arg_max(run_id, coalesce(started_at, first_event_at)) AS run_id FROM runs
WHERE {names} AND {{'namespace': job_namespace, 'name': job_name}} IN ?
GROUP BY job_namespace, job_name
"""
_PARENT = """
SELECT parent.run_id AS run_id, parent.job_namespace AS job_namespace, parent.job_name AS job_name
FROM runs WHERE run_id = ?
"""


class _Job(Answer):
    namespace: str
    name: str
    description: str | None
    last_run: RunSummary | None
    last_seen_at: datetime | None


class JobSummary(_Job):
    """A job in a list."""

    inputs: int
    outputs: int


class Job(_Job):
    """Everything about one job. What only the table `jobs` knows is null until the job's events are in it."""

    owners: list[Owner]
    tags: list[Tag]
    processing_type: str | None
    integration: str | None
    job_type: str | None
    sql: str | None
    source_code_url: str | None
    documentation_url: str | None
    max_duration_ms: int | None
    freshness_minutes: float | None
    inputs: list[JobDataset]
    outputs: list[JobDataset]
    runs: list[RunSummary]
    facets: dict[str, Any]
    first_seen_at: datetime | None
    parent: RunLink | None
    """What started its last run."""


def jobs(tables: TableSet, q: str | None, namespace: str | None, paging: Paging) -> Page[JobSummary]:
    """Jobs by name."""
    conditions = Conditions()
    conditions.equal("namespace", namespace)
    if q:
        conditions.add(r"(name ILIKE ? ESCAPE '\' OR namespace ILIKE ? ESCAPE '\')", like(q), like(q))
    found = page(tables, f"{_LIST} {conditions.where}", conditions.parameters, KEYS, paging)
    pairs = [(row["namespace"], row["name"]) for row in found.rows]
    last_runs = _last_runs(tables, pairs)
    datasets = datasets_of_jobs(tables)
    summaries = [
        JobSummary(
            **row,
            last_run=last_runs.get(pair),
            inputs=len(datasets.inputs.get(pair, ())),
            outputs=len(datasets.outputs.get(pair, ())),
        )
        for pair, row in zip(pairs, found.rows, strict=True)
    ]
    return Page(items=summaries, next_cursor=found.next_cursor, sql=found.sql)


def job(tables: TableSet, namespace: str, name: str) -> Job | None:
    """The job with this name; None if neither runs nor job events name it."""
    row = tables.row("SELECT * FROM jobs WHERE namespace = ? AND name = ?", namespace, name) or {}
    of_job = runs(tables, RunFilter(namespace, name), Paging(limit=RUNS)).items
    if not row and not of_job:
        return None
    inputs, outputs = datasets_of(tables, (namespace, name))
    copied = (
        *("description", "processing_type", "integration", "job_type", "sql", "source_code_url"),
        *("max_duration_ms", "freshness_minutes", "first_seen_at"),
    )
    return Job(
        namespace=namespace,
        name=name,
        last_run=of_job[0] if of_job else None,
        inputs=inputs,
        outputs=outputs,
        last_seen_at=max((one.last_event_at for one in of_job if one.last_event_at), default=row.get("last_seen_at")),
        owners=owners(row.get("owners")),
        tags=tags(row.get("tags")),
        documentation_url=documentation_url(row),
        runs=of_job,
        facets=of_column(row.get("facets")),
        parent=_parent(tables, of_job[0].run_id) if of_job else None,
        **{column: row.get(column) for column in copied},
    )


def _last_runs(tables: TableSet, pairs: list[Pair]) -> dict[Pair, RunSummary]:
    if not pairs:
        return {}
    job_names = sorted({name for _, name in pairs})
    structs = [{"namespace": namespace, "name": name} for namespace, name in pairs]
    rows = tables.rows(_LAST_RUNS.format(names=one_of("job_name", job_names)), *job_names, structs)
    found = summaries_of(tables, [row["run_id"] for row in rows])
    return {(one.job.namespace, one.job.name): one for one in found}


def _parent(tables: TableSet, run_id: str) -> RunLink | None:
    row = tables.row(_PARENT, run_id)
    if row is None or row["run_id"] is None:
        return None
    has_name = row["job_namespace"] is not None and row["job_name"] is not None
    return RunLink(
        run_id=row["run_id"], job=Name(namespace=row["job_namespace"], name=row["job_name"]) if has_name else None
    )
