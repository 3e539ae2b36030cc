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
from lineproof.serving.answers.open_runs import overdue_runs
from lineproof.serving.answers.run_certificates import certificate_faults
from lineproof.serving.answers.statement import Statement
from lineproof.serving.open_tables import TableSet

BROKEN_CERTIFICATES = (CERTIFICATE_ALTERED, CERTIFICATE_FORK, CERTIFICATE_REORDERED)
UNPROVEN_CERTIFICATES = (CERTIFICATE_UNKNOWN_ALGORITHM, CERTIFICATE_GAP)
"""Nobody can say whether they are genuine: of an unknown algorithm, or without the certificate before."""

_WORST_FIRST = (*BROKEN_CERTIFICATES, *UNPROVEN_CERTIFICATES)
_COMPLETED, _FAILED, _ABORTED, _NEW = "COMPLETED", "FAILED", "ABORTED", "NEW"
_UNKNOWN_STATES = (_ABORTED, _NEW)
_IS_OPEN = f"state NOT IN ('{_COMPLETED}', '{_FAILED}', '{_ABORTED}', '{_NEW}')"
_LISTED = 100
"""More runs are not named in SQL one by one."""


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
    broken, proven, running = _is_broken(tables), _is_proven(tables), _is_running(tables)
    if trust == "broken":
        return broken
    others = {
        "proven": proven,
        "running": running,
        "unknown": Statement(f"NOT {proven.text} AND NOT {running.text}", (*proven.parameters, *running.parameters)),
    }
    chosen = others[trust]
    return Statement(f"(NOT {broken.text} AND {chosen.text})", (*broken.parameters, *chosen.parameters))


def unproven_runs(tables: TableSet) -> int:
    """How many runs have the trust unknown. All runs are read only if one has changed, not because time has passed."""
    ended = tables.derived("ended runs without proof", ("runs", "certificates"), _ended_without_proof)
    faults = certificate_faults(tables).of_run
    late = (run for run in overdue_runs(tables) if run.state not in _UNKNOWN_STATES)
    return ended + sum(faults.get(run.run_id, set()).isdisjoint(BROKEN_CERTIFICATES) for run in late)


def _ended_without_proof(tables: TableSet) -> int:
    broken, proven = _is_broken(tables), _is_proven(tables)
    return int(
        tables.scalar(
            f"SELECT count(*) FROM runs WHERE NOT {broken.text} AND NOT {proven.text} AND NOT {_IS_OPEN}",
            *broken.parameters,
            *proven.parameters,
        )
    )


def _is_broken(tables: TableSet) -> Statement:
    by_certificate = _certified(tables, BROKEN_CERTIFICATES)
    is_broken = f"state = '{_FAILED}' OR (state = '{_COMPLETED}' AND ledger_verdict <> '{LEDGER_BALANCED}')"
    return Statement(f"(coalesce({is_broken}, false) OR {by_certificate.text})", by_certificate.parameters)


def _is_proven(tables: TableSet) -> Statement:
    unproven = _certified(tables, UNPROVEN_CERTIFICATES)
    return Statement(
        f"(state = '{_COMPLETED}' AND successful AND NOT {unproven.text}"
        f" AND (coalesce(ledger_verdict = '{LEDGER_BALANCED}', false)"
        f" OR coalesce(certificate_verdict = '{CERTIFICATE_INTACT}', false)))",
        unproven.parameters,
    )


def _is_running(tables: TableSet) -> Statement:
    if tables.known.at is None:
        late = Statement("run_id IN (SELECT run_id FROM open_runs WHERE is_overdue)")
    else:  # the view is about now
        late = _any_of("run_id", [run.run_id for run in overdue_runs(tables)])
    return Statement(f"({_IS_OPEN} AND NOT {late.text})", late.parameters)


def _certified(tables: TableSet, verdicts: Sequence[str]) -> Statement:
    """The runs whose certificates have one of these verdicts: by their hashes, or by their links."""
    faults = certificate_faults(tables).of_run
    run_ids = sorted(run_id for run_id in faults if run_id and not faults[run_id].isdisjoint(verdicts))
    listed = ", ".join(f"'{verdict}'" for verdict in verdicts)
    by_links = (
        _any_of("run_id", run_ids)
        if len(run_ids) <= _LISTED
        else Statement(f"run_id IN (SELECT run_id FROM certificate_checks WHERE verdict IN ({listed}))")
    )
    by_hash = f"certificate_verdict IN ({listed})"
    return Statement(
        f"(certificate_verdict IS NOT NULL AND ({by_hash} OR coalesce({by_links.text}, false)))", by_links.parameters
    )


def _any_of(column: str, values: Sequence[str]) -> Statement:
    return Statement(f"{column} IN (SELECT unnest(?))", ([*values],)) if values else Statement("false")
