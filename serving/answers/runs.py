"""Lists of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineproof.serving.answers.model import Answer, ExactCount, Name, Page, Trust
from lineproof.serving.answers.open_runs import overdue_among
from lineproof.serving.answers.paging import Key, Paging, page
from lineproof.serving.answers.run_trust import trust_condition, trust_of, worst_certificate
from lineproof.serving.answers.statement import Conditions, like, one_of
from lineproof.serving.open_tables import TableSet

COLUMNS = """
run_id, job_namespace, job_name, state, successful, started_at, ended_at, duration_ms, stated_duration_ms,
clock_skew_ms, ledger_verdict, ledger_difference, certificate_verdict, event_count, first_event_at, last_event_at,
error.message AS error_message
""".replace("\n", " ").strip()
_NEVER = "TIMESTAMPTZ '0001-01-01 00:00:00+00'"
_BEGAN = f"coalesce(started_at, first_event_at, {_NEVER})"
KEYS = (Key("began_at", is_descending=True, is_time=True), Key("run_id"))


class RunSummary(Answer):
    """A run in a list."""

    run_id: str
    job: Name
    state: str
    successful: bool
    trust: Trust
    reason: str
    started_at: datetime | None
    ended_at: datetime | None
    duration_ms: int | None
    stated_duration_ms: int | None
    clock_skew_ms: int | None
    ledger_verdict: str | None
    ledger_difference: ExactCount | None
    certificate_verdict: str | None
    is_overdue: bool
    event_count: int | None
    error_message: str | None
    last_event_at: datetime | None


@dataclass(frozen=True)
class RunFilter:
    """Which runs are wanted. Filters are combined with AND."""

    namespace: str | None = None
    name: str | None = None
    state: str | None = None
    verdict: str | None = None
    """Of the ledger or the certificate."""
    trust: Trust | None = None
    since: datetime | None = None
    until: datetime | None = None
    q: str | None = None
    """A part of the run id or of the job's name."""


def runs(tables: TableSet, wanted: RunFilter, paging: Paging) -> Page[RunSummary]:
    """Runs, the newest first."""
    conditions = _conditions(wanted, tables)
    source = f"FROM runs {conditions.where}"
    whole = f"SELECT {COLUMNS}, {_BEGAN} AS began_at {source}"
    if wanted.name is not None:
        found = page(tables, whole, conditions.parameters, KEYS, paging)
        summaries = summarise(tables, found.rows)
        return Page(items=summaries, next_cursor=found.next_cursor, sql=found.sql)
    # To sort all runs by few columns and then read the others of a page is faster than to sort whole rows.
    keys = f"SELECT run_id, {_BEGAN} AS began_at {source}"
    found = page(tables, keys, conditions.parameters, KEYS, paging, shown=whole)
    summaries = summaries_of(tables, [row["run_id"] for row in found.rows])
    return Page(items=summaries, next_cursor=found.next_cursor, sql=found.sql)


def summaries_of(tables: TableSet, run_ids: Sequence[str]) -> list[RunSummary]:
    """The runs with these ids, in this order."""
    if not run_ids:
        return []
    rows = tables.rows(f"SELECT {COLUMNS} FROM runs WHERE {one_of('run_id', run_ids)}", *run_ids)
    by_id = {summary.run_id: summary for summary in summarise(tables, rows)}
    return [by_id[run_id] for run_id in run_ids if run_id in by_id]


def summarise(tables: TableSet, rows: Sequence[dict[str, Any]]) -> list[RunSummary]:
    """Rows with `COLUMNS` as summaries."""
    overdue = overdue_among(tables, (row["run_id"] for row in rows if row["ended_at"] is None))
    certificates = worst_certificate(tables, rows)
    return [_summary(row, certificates[row["run_id"]], is_overdue=row["run_id"] in overdue) for row in rows]


def _summary(row: dict[str, Any], certificate: str | None, *, is_overdue: bool) -> RunSummary:
    trust, reason = trust_of(row, certificate, is_overdue=is_overdue)
    return RunSummary(
        job=Name(namespace=row["job_namespace"] or "", name=row["job_name"] or ""),
        trust=trust,
        reason=reason,
        is_overdue=is_overdue,
        certificate_verdict=certificate,
        **{name: row[name] for name in _AS_THEY_ARE},
    )


_AS_THEY_ARE = RunSummary.model_fields.keys() - {"job", "trust", "reason", "is_overdue", "certificate_verdict"}


def _conditions(wanted: RunFilter, tables: TableSet) -> Conditions:
    conditions = Conditions()
    conditions.equal("job_namespace", wanted.namespace)
    conditions.equal("job_name", wanted.name)
    conditions.equal("state", wanted.state)
    if wanted.verdict:
        conditions.add("(ledger_verdict = ? OR certificate_verdict = ?)", wanted.verdict, wanted.verdict)
    if wanted.since:
        conditions.add(f"{_BEGAN} >= ?", wanted.since)
    if wanted.until:
        conditions.add(f"{_BEGAN} < ?", wanted.until)
    if wanted.q:
        pattern = like(wanted.q)
        conditions.add(r"(job_name ILIKE ? ESCAPE '\' OR run_id ILIKE ? ESCAPE '\')", pattern, pattern)
    if wanted.trust:
        trusted = trust_condition(wanted.trust, tables)
        conditions.add(trusted.text, *trusted.parameters)
    return conditions
