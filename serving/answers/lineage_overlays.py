"""What a lineage graph says about each node: state, last run, quality, freshness and proof, each with a few words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.freshness import Freshness, freshness_of
from lineproof.serving.answers.installation import Installation
from lineproof.serving.answers.lineage_runs import Row, last_runs, last_writes, run_rows
from lineproof.serving.answers.model import Answer, Trust, asked_at
from lineproof.serving.answers.open_runs import overdue_among
from lineproof.serving.answers.run_trust import trust_of, worst_certificate
from lineproof.serving.open_tables import TableSet

OverlayName = Literal["state", "last_run", "quality", "freshness", "proof"]
NO_WRITER = "no known writer"
NO_LIMIT, UNKNOWN = "no limit · ", "freshness unknown · "
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


class Overlay(Answer):
    """One thing that is known of a node."""

    trust: Trust | None
    """Null where the question does not arise, as tests of a job."""
    text: str


class RunBar(Answer):
    """One of the last runs of a job."""

    run_id: str
    trust: Trust
    reason: str
    state: str
    started_at: datetime | None
    duration_ms: int | None


@dataclass(frozen=True)
class Overlays:
    """What is known of the nodes that are shown."""

    of_job: dict[Pair, dict[OverlayName, Overlay]]
    of_dataset: dict[Pair, dict[OverlayName, Overlay]]
    runs: dict[Pair, list[RunBar]]


def overlays(tables: TableSet, installation: Installation, jobs: Sequence[Pair], datasets: Sequence[Pair]) -> Overlays:
    """What is known of these nodes. `find_moments` has been called for the datasets."""
    writers_of = combinations(tables).writers
    writers = {writer for dataset in datasets for writer in writers_of.get(dataset, ())}
    runs = last_runs(tables, sorted({*jobs, *writers}))
    written = last_writes(tables, datasets)
    loads = run_rows(tables, [moment.run_id for moment in written.values() if moment])
    bars = _bars(tables, [*(row for rows in runs.values() for row in rows), *loads.values()])
    of_job = {job: [bars[row["run_id"]] for row in rows] for job, rows in runs.items()}
    now = asked_at(tables)
    tests, freshness = _tests(tables), freshness_of(tables, installation, datasets)
    of_dataset = {}
    for dataset in datasets:
        moment = written[dataset]
        load = bars.get(moment.run_id) if moment else None
        last = _last_of(of_job[writer] for writer in writers_of.get(dataset, ()))
        fresh = _freshness(freshness[dataset])
        of_dataset[dataset] = _dataset(fresh, load, last, tests.get(dataset), now)
    return Overlays({job: _job(of_job[job], now) for job in jobs}, of_dataset, of_job)


def _bars(tables: TableSet, rows: list[Row]) -> dict[str, RunBar]:
    overdue = overdue_among(tables, (row["run_id"] for row in rows if row["ended_at"] is None))
    certificates = worst_certificate(tables, rows)
    found = {}
    for row in rows:
        run_id = row["run_id"]
        trust, reason = trust_of(row, certificates[run_id], is_overdue=run_id in overdue)
        began = row["started_at"] or row["first_event_at"]
        found[run_id] = RunBar(
            run_id=run_id,
            trust=trust,
            reason=reason,
            state=row["state"],
            started_at=began,
            duration_ms=row["duration_ms"],
        )
    return found


def _last_of(runs: object) -> RunBar | None:
    bars = [bar for of_job in runs for bar in of_job if bar.started_at]  # type: ignore[attr-defined]
    return max(bars, key=lambda bar: (bar.started_at, bar.run_id), default=None)


def _tests(tables: TableSet) -> dict[Pair, tuple[int, int]]:
    """How many tests of each dataset there are, and how many of them fail."""
    return tables.derived("tests of datasets", ("quality_results", "dataset_nodes"), _count_tests)


def _count_tests(tables: TableSet) -> dict[Pair, tuple[int, int]]:
    known = combinations(tables)
    found: dict[Pair, tuple[int, int]] = {}
    for namespace, name, count, failed in tables.query(
        """
        SELECT namespace, name, count(*), count(*) FILTER (NOT success)
        FROM latest_results WHERE name IS NOT NULL GROUP BY ALL
        """
    ).rows:
        node = known.node(namespace, name)
        before = found.get(node, (0, 0))
        found[node] = before[0] + count, before[1] + failed
    return found


def _freshness(known: Freshness) -> Overlay:
    if known.age_s is None:
        return Overlay(trust="unknown", text="never loaded")
    if known.verdict == "late":
        return Overlay(trust="broken", text=f"late · {span(known.age_s - (known.limit_s or 0))} over")
    if known.verdict == "fresh":
        return Overlay(trust="proven", text=f"fresh · {span(known.age_s)}")
    said = NO_LIMIT if known.limit_s is None else UNKNOWN
    return Overlay(trust="unknown", text=f"{said}{span(known.age_s)} ago")


def _dataset(
    fresh: Overlay, load: RunBar | None, last: RunBar | None, tests: tuple[int, int] | None, now: datetime
) -> dict[OverlayName, Overlay]:
    count, failed = tests or (0, 0)
    never = Overlay(trust="unknown", text="never loaded" if last else NO_WRITER)
    quality = (
        Overlay(trust="broken", text=f"{failed} of {count} tests failed")
        if failed
        else Overlay(trust="proven", text=f"{count} test{'s' if count > 1 else ''} passed")
        if count
        else Overlay(trust="unknown", text="no tests")
    )
    proof = Overlay(trust=load.trust, text=load.reason) if load else never
    state = next((one for one in (proof, fresh, quality) if one.trust == "broken"), None)
    if state is None:
        state = fresh if proof.trust == "proven" and fresh.trust == "proven" else proof
    if state.trust == "proven" and state is proof:
        state = Overlay(trust="proven", text=f"proven · {fresh.text.removeprefix(NO_LIMIT).removeprefix(UNKNOWN)}")
    return {
        "state": state,
        "last_run": _last_run(last, now) if last else never,
        "quality": quality,
        "freshness": fresh if load else never,
        "proof": proof,
    }


def _job(bars: Sequence[RunBar], now: datetime) -> dict[OverlayName, Overlay]:
    no_runs = Overlay(trust="unknown", text="no runs")
    last = bars[-1] if bars else None
    began = last.started_at if last else None
    age = f"last run {span((now - began).total_seconds())} ago" if began else "no runs"
    return {
        "state": _state(bars) if last else no_runs,
        "last_run": _last_run(last, now) if last else no_runs,
        "quality": Overlay(trust=None, text="tests are of datasets"),
        "freshness": Overlay(trust=None, text=age),
        "proof": Overlay(trust=last.trust, text=last.reason) if last else no_runs,
    }


def _state(bars: Sequence[RunBar]) -> Overlay:
    runs = "1 run" if len(bars) == 1 else f"{len(bars)} runs"
    broken = sum(bar.trust == "broken" for bar in bars)
    if broken:
        return Overlay(trust="broken", text=f"{broken} of {runs} broken")
    if bars[-1].trust == "running":
        return Overlay(trust="running", text="running")
    proven = sum(bar.trust == "proven" for bar in bars)
    if proven == len(bars):
        return Overlay(trust="proven", text=f"{runs} proven")
    return Overlay(trust="unknown", text=f"{proven} of {runs} proven")


def _last_run(run: RunBar, now: datetime) -> Overlay:
    age = f" · {span((now - run.started_at).total_seconds())} ago" if run.started_at else ""
    return Overlay(trust=run.trust, text=f"{run.state.lower()}{age}")


def span(seconds: float) -> str:
    """A time in one unit, rounded down."""
    past = max(0, int(seconds))
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if past >= unit:
            return f"{past // unit} {name}"
    return f"{past} s"
