"""Whether the result of a run can be trusted, and why: in Python for rows, in SQL for filters. Tests compare both."""

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from lineproof.schemas.verdicts import (
    CERTIFICATE_ALTERED,
    CERTIFICATE_FORK,
    CERTIFICATE_GAP,
    CERTIFICATE_INTACT,
    CERTIFICATE_REORDERED,
    CERTIFICATE_UNKNOWN_ALGORITHM,
    LEDGER_BALANCED,
)
from lineproof.schemas.views import view_sql
from lineproof.serving.answers.model import Trust
from lineproof.serving.answers.run_certificates import certificate_faults
from lineproof.serving.answers.statement import Statement, one_of
from lineproof.serving.open_tables import TableSet

BROKEN_CERTIFICATES = (CERTIFICATE_ALTERED, CERTIFICATE_FORK, CERTIFICATE_REORDERED)
UNPROVEN_CERTIFICATES = (CERTIFICATE_UNKNOWN_ALGORITHM, CERTIFICATE_GAP)
"""Nobody can say whether they are genuine: of an unknown algorithm, or without the certificate before."""

_WORST_FIRST = (*BROKEN_CERTIFICATES, *UNPROVEN_CERTIFICATES)
_COMPLETED, _FAILED, _ABORTED, _NEW = "COMPLETED", "FAILED", "ABORTED", "NEW"


def worst_certificate(tables: TableSet, rows: Sequence[dict[str, Any]]) -> dict[str, str | None]:
    """The worst verdict on the certificates of each run among rows of `runs`, links to others included."""
    of_hash = {row["run_id"]: row["certificate_verdict"] for row in rows}
    faults = certificate_faults(tables).of_run if any(of_hash.values()) else {}
    return {
        run_id: next((fault for fault in _WORST_FIRST if fault in faults.get(run_id, ()) or fault == verdict), verdict)
        for run_id, verdict in of_hash.items()
    }


def trust_of(run: dict[str, Any], certificate: str | None, *, is_overdue: bool) -> tuple[Trust, str]:
    """The trust in a run, and the reason. `certificate`: the worst verdict on its certificates."""
    state, ledger = run["state"], run["ledger_verdict"]
    if certificate in BROKEN_CERTIFICATES:
        return "broken", f"certificate: {certificate}"
    if state == _FAILED:
        return "broken", "the run failed"
    if state == _COMPLETED and ledger not in (None, LEDGER_BALANCED):
        difference = run["ledger_difference"]
        rows = "" if difference is None else f", difference {difference}"
        return "broken", f"ledger: {ledger}{rows}"
    if state == _ABORTED:
        return "unknown", "the run was aborted"
    if state == _NEW:
        return "unknown", "no START has arrived"
    if state != _COMPLETED:
        return ("unknown", "overdue: no end has arrived") if is_overdue else ("running", "the run has not ended")
    if certificate in UNPROVEN_CERTIFICATES:
        return "unknown", f"certificate: {certificate}"
    proofs = (
        *(["the ledger balances"] if ledger == LEDGER_BALANCED else []),
        *(["certificate intact"] if certificate == CERTIFICATE_INTACT else []),
    )
    if not proofs or not run["successful"]:
        return "unknown", "nothing proves it: no ledger and no certificate"
    return "proven", ", ".join(proofs)


def trust_condition(trust: Trust, tables: TableSet) -> Statement:
    """The runs with this trust, as a condition on `runs`."""
    broken = (
        f"(state = '{_FAILED}' OR (state = '{_COMPLETED}' AND ledger_verdict <> '{LEDGER_BALANCED}')"
        f" OR coalesce({_certified(BROKEN_CERTIFICATES)}, false))"
    )
    is_broken = f"coalesce({broken}, false)"
    overdue = overdue_runs(tables)
    is_open = f"state NOT IN ('{_COMPLETED}', '{_FAILED}', '{_ABORTED}', '{_NEW}')"
    running = f"({is_open} AND run_id NOT IN (SELECT run_id FROM ({overdue.text}) WHERE is_overdue))"
    proven = (
        f"(state = '{_COMPLETED}' AND successful AND NOT coalesce({_certified(UNPROVEN_CERTIFICATES)}, false)"
        f" AND (coalesce(ledger_verdict = '{LEDGER_BALANCED}', false)"
        f" OR coalesce(certificate_verdict = '{CERTIFICATE_INTACT}', false)))"
    )
    if trust == "broken":
        return Statement(is_broken)
    if trust == "proven":
        return Statement(f"(NOT {is_broken} AND {proven})")
    if trust == "running":
        return Statement(f"(NOT {is_broken} AND {running})", overdue.parameters)
    return Statement(f"(NOT {is_broken} AND NOT {proven} AND NOT {running})", overdue.parameters)


def _certified(verdicts: Sequence[str]) -> str:
    listed = ", ".join(f"'{verdict}'" for verdict in verdicts)
    return f"run_id IN (SELECT run_id FROM certificate_checks WHERE verdict IN ({listed}))"


def overdue_runs(tables: TableSet) -> Statement:
    """The view `open_runs`; of earlier tables, at their time instead of now."""
    if tables.known.at is None:
        return Statement("SELECT * FROM open_runs")
    text = "\n".join(line for line in view_sql("open_runs").splitlines() if not line.startswith("--"))
    return Statement(text.replace("current_timestamp", "?::TIMESTAMPTZ"), (tables.known.at,))


_USUAL = """
SELECT jobs.namespace, jobs.name, jobs.processing_type, jobs.max_duration_ms, NULL AS usual_ms
FROM jobs WHERE {{'namespace': jobs.namespace, 'name': jobs.name}} IN ?
UNION ALL
SELECT job_namespace, job_name, NULL, NULL, median(duration_ms)
FROM runs WHERE successful AND {names} AND {{'namespace': job_namespace, 'name': job_name}} IN ?
GROUP BY ALL
"""


def overdue_of(tables: TableSet, runs: Sequence[dict[str, Any]], at: datetime) -> set[str]:
    """The runs among these that are open for too long. Reads the usual durations of their jobs only."""
    open_runs = [run for run in runs if run["ended_at"] is None]
    if not open_runs:
        return set()
    jobs = [{"namespace": run["job_namespace"], "name": run["job_name"]} for run in open_runs]
    job_names = sorted({job["name"] for job in jobs})
    rows = tables.rows(_USUAL.format(names=one_of("job_name", job_names)), jobs, *job_names, jobs)
    limits: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        stated = limits.setdefault((row["namespace"], row["name"]), {})
        stated |= {name: value for name, value in row.items() if value is not None}
    return {
        run["run_id"]
        for run in open_runs
        if _open_ms(run, at) > _limit_ms(limits.get((run["job_namespace"], run["job_name"]), {}))
    }


def _open_ms(run: dict[str, Any], at: datetime) -> float:
    since: datetime | None = run["started_at"] or run["first_event_at"]
    return 0 if since is None else (at.astimezone(timezone.utc) - since).total_seconds() * 1000


def _limit_ms(job: dict[str, Any]) -> float:
    if job.get("processing_type") in ("STREAMING", "SERVICE"):
        return float("inf")
    if "max_duration_ms" in job:
        return float(job["max_duration_ms"])
    return max(3.0 * job["usual_ms"], 60_000) if "usual_ms" in job else 86_400_000
