"""The expected rows of `runs`."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal

from lineproof.schemas.certificates import ALGORITHM
from tests.certificates import of_facet
from tests.model.events import Event, Row, events

ENDS = {"FAIL": "FAILED", "ABORT": "ABORTED", "COMPLETE": "COMPLETED"}  # the worst first

LEDGER = "cdme_accountingLedger"


def runs(values: Iterable[bytes]) -> dict[str, Row]:
    """Rows by run id."""
    return runs_of(events(values))


def runs_of(ordered: Iterable[Event]) -> dict[str, Row]:
    """Rows by run id, from events in the order of `version`."""
    by_run: dict[str, list[Event]] = defaultdict(list)
    for event in ordered:
        if event.run_id:
            by_run[event.run_id].append(event)
    return {run_id: _run(run_id, of_run) for run_id, of_run in by_run.items()}


def _run(run_id: str, of_run: list[Event]) -> Row:
    def earliest(event_type: str) -> datetime | None:
        return min((event.time for event in of_run if event.document.get("eventType") == event_type), default=None)

    def facets(name: str) -> list[tuple[Event, Row]]:
        all_facets = ((event, event.document["run"].get("facets", {})) for event in of_run)
        return [(event, found[name]) for event, found in all_facets if name in found]

    def latest(name: str) -> tuple[datetime, str, Row] | None:
        found = facets(name)
        return (*found[-1][0].version, found[-1][1]) if found else None

    started, running = earliest("START"), earliest("RUNNING")
    ends = {state: time for kind, state in ENDS.items() if (time := earliest(kind))}
    state, ended = next(iter(ends.items()), ("RUNNING" if started or running else "NEW", None))
    elapsed = _milliseconds(ended) - _milliseconds(started) if started and ended else None
    ledger = _ledger(*found) if (found := latest(LEDGER)) else None
    error, nominal = latest("errorMessage"), latest("nominalTime")
    stated = [facet for _, facet in facets("parent")]
    parents = [facet for facet in stated if "run" in facet]
    roots = [facet["root"] for facet in stated if "root" in facet]
    jobs = sorted({event.job for event in of_run if event.job})
    return {
        "run_id": run_id,
        "job_namespace": jobs[0][0],
        "job_name": jobs[0][1],
        "state": state,
        "successful": state == "COMPLETED" and (ledger is None or ledger["verdict"] == "balanced"),
        "started_at": started,
        "ended_at": ended,
        "duration_ms": elapsed if elapsed is not None and elapsed >= 0 else None,
        "stated_duration_ms": max((facet["durationMs"] for _, facet in facets("timing")), default=None),
        "clock_skew_ms": -elapsed if elapsed is not None and elapsed < 0 else None,
        "has_conflicting_ends": len(ends) > 1,
        "ledger_verdict": ledger and ledger["verdict"],
        "ledger_difference": ledger and ledger["difference"],
        "had_faulty_ledger": max(
            (_ledger(*event.version, facet)["verdict"] != "balanced" for event, facet in facets(LEDGER)), default=None
        ),
        "ledger": ledger and ledger["row"],
        "error": error and {"event_time": error[0], "event_id": error[1], "message": error[2]["message"]},
        "certificate_verdict": min(
            (
                _hash_verdict(facet)
                for _, facet in facets("cdme_fidelityCertificate")
                if facet["runId"].lower() == run_id.lower()
            ),
            key=("altered", "unknown algorithm", "intact").index,
            default=None,
        ),
        "nominal": nominal
        and {
            "event_time": nominal[0],
            "event_id": nominal[1],
            "start_at": _time(nominal[2].get("nominalStartTime")),
            "end_at": _time(nominal[2].get("nominalEndTime")),
        },
        "parent": _smallest(parents),
        "root": _smallest(roots),
        "trace_id": min((event.trace_id for event in of_run if event.trace_id), default=None),
        "producer": min((found for event in of_run if (found := event.document["producer"])), default=None),
        "inputs": _datasets(of_run, "inputs"),
        "outputs": _datasets(of_run, "outputs"),
        "jobs": [{"namespace": namespace, "name": name} for namespace, name in jobs],
        "event_count": len({event.event_id for event in of_run}),
        "running_at": running,
        "completed_at": ends.get("COMPLETED"),
        "failed_at": ends.get("FAILED"),
        "aborted_at": ends.get("ABORTED"),
        "first_event_at": of_run[0].time,
        "last_event_at": of_run[-1].time,
    }


def _hash_verdict(facet: Row) -> str:
    certificate = of_facet(facet)
    if certificate.algorithm != ALGORITHM:
        return "unknown algorithm"
    return "intact" if certificate.sealed() == certificate else "altered"


def _smallest(parents: list[Row]) -> Row | None:
    """The smallest parent; a missing name is smaller than any."""

    def names(parent: Row) -> list[tuple[bool, str]]:
        return [(name is not None, name or "") for name in parent.values()]

    return min(map(_parent, parents), key=names, default=None)


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _milliseconds(time: datetime) -> int:
    return (time - datetime.fromisoformat("1970-01-01T00:00:00+00:00")) // timedelta(milliseconds=1)


def _parent(facet: Row) -> Row:
    return {
        "run_id": facet["run"]["runId"],
        "job_namespace": facet["job"]["namespace"],
        "job_name": facet["job"]["name"],
    }


def _ledger(time: datetime, identifier: str, facet: Row) -> Row:
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


def _datasets(of_run: list[Event], role: str) -> list[Row]:
    """Each dataset once, with the latest statistics."""
    stated: dict[tuple[str, str], tuple[bool, datetime, int, int]] = {}
    rows: dict[tuple[str, str], Row] = {}
    for event in of_run:
        for dataset in event.document.get(role, []):
            key, statistics = (dataset["namespace"], dataset["name"]), _statistics(dataset, role)
            count, size = statistics.get("rowCount"), statistics.get("size")
            is_stated = count is not None or size is not None
            # A missing count is less than any count.
            rank = (is_stated, event.time, -1 if count is None else count, -1 if size is None else size)
            if key not in rows or (is_stated and rank > stated[key]):
                stated[key] = rank
                rows[key] = {"stated_at": event.time if is_stated else None, "row_count": count, "size": size}
    return [{"namespace": key[0], "name": key[1], **rows[key]} for key in sorted(rows)]


def _statistics(dataset: Row, role: str) -> Row:
    kind = role.removesuffix("s")
    found: Row = dataset.get(f"{kind}Facets", {}).get(f"{kind}Statistics", {})
    return found
