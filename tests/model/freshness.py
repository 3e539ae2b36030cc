"""The expected rows of `dataset_freshness`, and of the views that it is made from."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from math import ceil
from random import Random
from typing import Any

from tests.model.events import Row

Pair = tuple[str, str]
MS = timedelta(milliseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Learned:
    """A limit that is learned from the gaps between loads."""

    limit_ms: int
    n: int
    k: int
    is_weekly: bool


@dataclass(frozen=True)
class World:
    """Rows of the tables that freshness depends on."""

    runs: Sequence[Row]
    jobs: Sequence[Row] = ()
    job_io: Sequence[Row] = ()
    datasets: Sequence[Row] = ()
    nodes: Mapping[Any, Any] | None = None
    """Other names of datasets, with their names in lineage."""
    missing: Mapping[Pair | None, datetime] | None = None
    """Until when events are missing; None: those that could be about any dataset."""

    def node(self, one: Row) -> Pair:
        """The name of a dataset in lineage."""
        pair = (one["namespace"], one["name"])
        found: Pair = (self.nodes or {}).get(pair, pair)
        return found


def dataset_loads(world: World) -> dict[Pair, list[datetime]]:
    """The times of the loads of each dataset, the earliest first."""
    found: dict[Pair, set[datetime]] = defaultdict(set)
    for run in world.runs:
        if run["successful"] and run["ended_at"]:
            for output in run["outputs"]:
                found[world.node(output)].add(run["ended_at"])
    return {node: sorted(times) for node, times in found.items()}


def declared_limits(world: World) -> dict[Pair, int]:
    """The shortest limit that a job declares for a dataset that it writes, in milliseconds."""
    stated = {
        (job["namespace"], job["name"]): job["freshness_minutes"]
        for job in world.jobs
        if job["freshness_minutes"] is not None and 0 < job["freshness_minutes"] < 1e9
    }
    found: dict[Pair, list[int]] = defaultdict(list)
    for io in world.job_io:
        for job in io["jobs"]:
            minutes = stated.get((job["namespace"], job["name"]))
            if minutes is not None:
                for output in io["outputs"]:
                    found[world.node(output)].append(ceil(minutes * 60_000))
    return {node: min(limits) for node, limits in found.items()}


def learned_limit(loads: Sequence[datetime]) -> Learned | None:
    """The k-th longest of the last n gaps."""
    moments = [_ms(load) for load in loads]
    gaps = [(_weekday(before), after - before) for before, after in pairwise(moments)][-200:]
    if len(gaps) < 20:
        return None
    kinds = _kinds(gaps)
    now = kinds.get(_weekday(moments[-1])) if {*kinds.values()} == {"long", "short"} else None
    alike = [gap for weekday, gap in gaps if now and kinds.get(weekday) == now]
    is_weekly = len(alike) >= 20
    chosen = sorted(alike if is_weekly else [gap for _, gap in gaps], reverse=True)
    k = 1 + len(chosen) // 100
    return Learned(max(chosen[k - 1], 60_000), len(chosen), k, is_weekly)


def _kinds(gaps: Sequence[tuple[int, int]]) -> dict[int, str]:
    """Whether the gaps that begin on a weekday are longer than the mean, shorter, or both."""
    total, count = sum(gap for _, gap in gaps), len(gaps)
    found = {}
    for weekday in {weekday for weekday, _ in gaps}:
        of_day = [gap * count > total for day, gap in gaps if day == weekday]
        if len(of_day) >= 3:
            is_long, is_short = 10 * sum(of_day) >= 9 * len(of_day), 10 * sum(of_day) <= len(of_day)
            found[weekday] = "long" if is_long else "short" if is_short else "mixed"
    return found


def dataset_freshness(world: World, now: datetime) -> dict[Pair, Row]:
    """Rows by dataset."""
    loads, declared = dataset_loads(world), declared_limits(world)
    of_io = (world.node(one) for io in world.job_io for side in ("inputs", "outputs") for one in io[side])
    names = {*loads, *of_io, *(world.node(one) for one in world.datasets)}
    return {node: _row(world, node, loads.get(node, []), declared.get(node), now) for node in names}


def _row(world: World, node: Pair, loads: Sequence[datetime], declared: int | None, now: datetime) -> Row:
    last = loads[-1] if loads else None
    learned = learned_limit(loads) if declared is None else None
    limit_ms = learned.limit_ms if learned else declared
    missing = [until for of in (None, node) if (until := (world.missing or {}).get(of))]
    age_ms = _ms(now) - _ms(last) if last else None
    if last is None or age_ms is None or limit_ms is None or age_ms < -300_000 or any(at > last for at in missing):
        verdict = "unknown"
    else:
        verdict = "late" if age_ms > limit_ms else "fresh"
    return {
        "verdict": verdict,
        "loaded_at": last,
        "limit_ms": limit_ms,
        "limit_source": "none" if limit_ms is None else "learned" if learned else "declared",
        "n": learned.n if learned else None,
        "k": learned.k if learned else None,
        "is_weekly": learned.is_weekly if learned else None,
    }


def random_loads(chance: Random, count: int, now: datetime) -> Iterable[datetime]:
    """Loads with a rhythm, or without one, that end at or near now."""
    kind = chance.choice(("daily", "workdays", "hourly", "any", "at once"))
    at = now - timedelta(seconds=chance.randint(-200, 200_000))
    for _ in range(count):
        yield at
        step = {
            "daily": timedelta(days=1, seconds=chance.randint(-300, 300)),
            "workdays": timedelta(days=3 if at.weekday() == 0 else 1),
            "hourly": timedelta(minutes=chance.choice((59, 60, 61, 600))),
            "any": timedelta(microseconds=chance.randint(0, 10**11)),
            "at once": timedelta(microseconds=chance.randint(0, 2000)),
        }[kind]
        at -= step


def _weekday(ms: int) -> int:
    return (EPOCH + ms * MS).weekday()


def _ms(moment: datetime) -> int:
    return (moment - EPOCH) // MS
