"""What the tables must hold, as a plain fold over the events: the law's other side.

Nothing here is shared with the job but the wire format.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from lineproof.schemas.envelope import Envelope, decode, event_id
from lineproof.schemas.openlineage import parse_instant

Row = dict[str, Any]
ENDS = {"FAIL": "FAILED", "ABORT": "ABORTED", "COMPLETE": "COMPLETED"}  # the worse one first


def lineage_events(values: Iterable[bytes]) -> dict[str, str]:
    """Event id to JSON."""
    return {event_id(payload): payload.decode() for payload, _ in map(_opened, values)}


def runs(values: Iterable[bytes]) -> dict[str, Row]:
    """Run id to row."""
    by_run: dict[str, list[tuple[tuple[datetime, str], dict[str, Any], str | None]]] = defaultdict(list)
    for payload, trace_id in map(_opened, values):
        event = json.loads(payload)
        if "run" in event:
            version = (parse_instant(event["eventTime"]), event_id(payload))
            by_run[event["run"]["runId"].lower()].append((version, event, trace_id))
    return {run_id: _run(run_id, sorted(events, key=lambda one: one[0])) for run_id, events in by_run.items()}


def _opened(value: bytes) -> tuple[bytes, str | None]:
    opened = decode(value)
    return (opened.payload, opened.trace_id) if isinstance(opened, Envelope) else (opened, None)


def _run(run_id: str, events: list[tuple[tuple[datetime, str], dict[str, Any], str | None]]) -> Row:
    def earliest(event_type: str) -> datetime | None:
        return min((time for (time, _), event, _ in events if event.get("eventType") == event_type), default=None)

    def latest_facet(name: str) -> tuple[datetime, str, Row] | None:
        found = [(*version, facets[name]) for version, facets in with_facets if name in facets]
        return found[-1] if found else None

    with_facets = [(version, event["run"].get("facets", {})) for version, event, _ in events]

    started, running = earliest("START"), earliest("RUNNING")
    ends = {state: time for kind, state in ENDS.items() if (time := earliest(kind))}
    state, ended = next(iter(ends.items()), ("RUNNING" if started or running else "NEW", None))
    elapsed = _milliseconds(ended) - _milliseconds(started) if started and ended else None
    ledger = _ledger(latest_facet("cdme_accountingLedger"))
    error = latest_facet("errorMessage")
    job_namespace, job_name = min((event["job"]["namespace"], event["job"]["name"]) for _, event, _ in events)
    parents = [facets["parent"] for _, facets in with_facets if "parent" in facets]
    return {
        "run_id": run_id,
        "job_namespace": job_namespace,
        "job_name": job_name,
        "state": state,
        "successful": state == "COMPLETED" and (ledger is None or ledger["verdict"] == "balanced"),
        "started_at": started,
        "ended_at": ended,
        "duration_ms": elapsed if elapsed is not None and elapsed >= 0 else None,
        "clock_skew_ms": -elapsed if elapsed is not None and elapsed < 0 else None,
        "has_conflicting_ends": len(ends) > 1,
        "ledger_verdict": ledger and ledger["verdict"],
        "ledger_difference": ledger and ledger["difference"],
        "ledger": ledger and ledger["row"],
        "error": error and {"event_time": error[0], "event_id": error[1], "message": error[2]["message"]},
        "parent": min(map(_parent, parents), key=lambda one: tuple(one.values()), default=None),
        "trace_id": min((trace for _, _, trace in events if trace), default=None),
        "inputs": _datasets(event.get("inputs", []) for _, event, _ in events),
        "outputs": _datasets(event.get("outputs", []) for _, event, _ in events),
        "running_at": running,
        "completed_at": ends.get("COMPLETED"),
        "failed_at": ends.get("FAILED"),
        "aborted_at": ends.get("ABORTED"),
        "first_event_at": events[0][0][0],
        "last_event_at": events[-1][0][0],
    }


def _milliseconds(time: datetime) -> int:
    return (time - datetime.fromisoformat("1970-01-01T00:00:00+00:00")) // timedelta(milliseconds=1)


def _parent(facet: Row) -> Row:
    return {
        "run_id": facet["run"]["runId"],
        "job_namespace": facet["job"]["namespace"],
        "job_name": facet["job"]["name"],
    }


def _ledger(found: tuple[datetime, str, Row] | None) -> Row | None:
    if found is None:
        return None
    time, identifier, facet = found
    counts = [facet.get(f"{name}Count") for name in ("inputRecord", "processed", "filtered", "errored")]
    if counts[0] is None or counts[1] is None:
        difference, verdict = None, "incomplete"
    else:
        difference = Decimal(counts[0] - counts[1] - (counts[2] or 0) - (counts[3] or 0))
        verdict = "unbalanced" if difference else "misdeclared" if facet.get("balanced") is False else "balanced"
    row = {
        "event_time": time,
        "event_id": identifier,
        **dict(zip(("input_count", "processed_count", "filtered_count", "errored_count"), counts, strict=True)),
        "declared_balanced": facet.get("balanced"),
    }
    return {"row": row, "difference": difference, "verdict": verdict}


def _datasets(lists: Iterable[list[Row]]) -> list[Row]:
    names = {(one["namespace"], one["name"]) for datasets in lists for one in datasets}
    return [{"namespace": namespace, "name": name} for namespace, name in sorted(names)]
