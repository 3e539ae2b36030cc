"""Whether the result of a run can be trusted, and why: in Python for rows, in SQL for filters. Tests compare both."""

from collections.abc import Sequence
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
from lineproof.serving.answers.model import Trust
from lineproof.serving.answers.open_runs import open_runs, overdue_among
from lineproof.serving.answers.run_certificates import certificate_faults
from lineproof.serving.answers.statement import Statement
from lineproof.serving.open_tables import TableSet

BROKEN_CERTIFICATES = (CERTIFICATE_ALTERED, CERTIFICATE_FORK, CERTIFICATE_REORDERED)
UNPROVEN_CERTIFICATES = (CERTIFICATE_UNKNOWN_ALGORITHM, CERTIFICATE_GAP)
"""Nobody can say whether they are genuine: of an unknown algorithm, or without the certificate before."""

_WORST_FIRST = (*BROKEN_CERTIFICATES, *UNPROVEN_CERTIFICATES)
_COMPLETED, _FAILED, _ABORTED, _NEW = "COMPLETED", "FAILED", "ABORTED", "NEW"
_UNKNOWN_STATES = (_ABORTED, _NEW)


def worst_certificate(tables: TableSet, rows: Sequence[dict[str, Any]]) -> dict[str, str | None]:
    """The worst verdict on the certificates of each run among rows of `runs`, links to others included."""
    of_hash = {row["run_id"]: row["certificate_verdict"] for row in rows}
    faults = certificate_faults(tables).of_run if any(of_hash.values()) else {}
    return {
        run_id: verdict
        and next((one for one in _WORST_FIRST if one == verdict or one in faults.get(run_id, ())), verdict)
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
    broken_by_certificate = _certified(tables, BROKEN_CERTIFICATES)
    unproven_by_certificate = _certified(tables, UNPROVEN_CERTIFICATES)
    is_broken = (
        f"coalesce(state = '{_FAILED}' OR (state = '{_COMPLETED}' AND ledger_verdict <> '{LEDGER_BALANCED}'), false)"
    )
    is_broken = f"({is_broken} OR {broken_by_certificate.text})"
    proven = (
        f"(state = '{_COMPLETED}' AND successful AND NOT {unproven_by_certificate.text}"
        f" AND (coalesce(ledger_verdict = '{LEDGER_BALANCED}', false)"
        f" OR coalesce(certificate_verdict = '{CERTIFICATE_INTACT}', false)))"
    )
    # All open runs are known by their ids, and there are few of them.
    running = [run.run_id for run in open_runs(tables).values() if run.state not in _UNKNOWN_STATES]
    late = overdue_among(tables, running)
    is_running = _any_of("run_id", [run_id for run_id in running if run_id not in late])
    if trust == "broken":
        return Statement(is_broken, broken_by_certificate.parameters)
    conditions = {
        "proven": [proven, unproven_by_certificate.parameters],
        "running": [is_running.text, is_running.parameters],
        "unknown": [
            f"NOT {proven} AND NOT {is_running.text}",
            (*unproven_by_certificate.parameters, *is_running.parameters),
        ],
    }
    text, parameters = conditions[trust]
    return Statement(f"(NOT {is_broken} AND {text})", (*broken_by_certificate.parameters, *parameters))


def _certified(tables: TableSet, verdicts: Sequence[str]) -> Statement:
    """The runs whose certificates have one of these verdicts: by their hashes, or by their links."""
    faults = certificate_faults(tables).of_run
    by_links = _any_of(
        "run_id", sorted(run_id for run_id in faults if run_id and not faults[run_id].isdisjoint(verdicts))
    )
    listed = ", ".join(f"'{verdict}'" for verdict in verdicts)
    return Statement(
        f"(certificate_verdict IS NOT NULL AND (certificate_verdict IN ({listed}) OR {by_links.text}))",
        by_links.parameters,
    )


def _any_of(column: str, values: Sequence[str]) -> Statement:
    """One parameter for all values, because there may be thousands."""
    return Statement(f"{column} IN (SELECT unnest(?))", ([*values],)) if values else Statement("false")
