"""Lineage of runs: which runs wrote what a run read, and which runs read what it wrote."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.lineage_runs import Row, run_rows
from lineproof.serving.answers.model import Answer, Name
from lineproof.serving.answers.runs import RunSummary, summaries_of
from lineproof.serving.layout import Measures, Point, layout
from lineproof.serving.open_tables import TableSet

MAX_RUNS = 300
SIZE = Measures()

_BEGAN = "coalesce(started_at, first_event_at)"
_WRITERS = """
SELECT asked.place, max({'at': runs.ended_at, 'run_id': runs.run_id}).run_id AS run_id
FROM (SELECT unnest(?) AS place, unnest(?) AS io_id, unnest(?) AS moment, unnest(?) AS not_id) AS asked
JOIN runs
    ON runs.io_id = asked.io_id AND runs.successful AND runs.ended_at <= asked.moment AND runs.run_id <> asked.not_id
GROUP BY asked.place
"""
_NEXT_WRITE = """
SELECT asked.place, min(runs.ended_at) AS at
FROM (SELECT unnest(?) AS place, unnest(?) AS io_id, unnest(?) AS moment, unnest(?) AS not_id) AS asked
JOIN runs
    ON runs.io_id = asked.io_id AND runs.successful AND runs.ended_at > asked.moment AND runs.run_id <> asked.not_id
GROUP BY asked.place
"""
_READERS = f"""
SELECT asked.place, runs.run_id
FROM (
    SELECT unnest(?) AS place, unnest(?) AS io_id, unnest(?) AS moment, CAST(unnest(?) AS TIMESTAMPTZ) AS until
) AS asked
JOIN runs
    ON runs.io_id = asked.io_id AND {_BEGAN} >= asked.moment AND (asked.until IS NULL OR {_BEGAN} < asked.until)
ORDER BY asked.place, {_BEGAN}, runs.run_id
LIMIT {MAX_RUNS + 1}
"""


class RunNode(RunSummary):
    """A run, drawn at x and y."""

    depth: int
    x: float
    y: float
    width: float
    height: float


class RunEdge(Answer):
    """A run that read what another one wrote."""

    source_run: str
    target_run: str
    dataset: Name
    points: list[Point]


class RunLineage(Answer):
    """The runs around a run."""

    center: str
    nodes: list[RunNode]
    edges: list[RunEdge]
    width: float
    height: float
    truncated: bool
    limit: int = MAX_RUNS


@dataclass(frozen=True)
class _Step:
    """A dataset that a run read or wrote, and when."""

    run_id: str
    dataset: Pair
    at: datetime


def run_lineage(tables: TableSet, run_id: str, up: int = 1, down: int = 1) -> RunLineage | None:
    """The runs around a run; None if there is no such run."""
    if not run_rows(tables, [run_id]):
        return None
    depths, edges = {run_id: 0}, dict[tuple[str, str, Pair], None]()
    is_truncated = False
    for sign, depth in ((-1, up), (1, down)):
        ring = [run_id]
        for distance in range(1, depth + 1):
            links = _writers(tables, ring) if sign < 0 else _readers(tables, ring)
            new = []
            for source, target, dataset in links:
                far = source if sign < 0 else target
                if far not in depths:
                    if len(depths) >= MAX_RUNS:
                        is_truncated = True
                        continue
                    depths[far] = sign * distance
                    new.append(far)
                edges[source, target, dataset] = None
            ring = new
    return _drawn(tables, run_id, depths, [*edges], is_truncated=is_truncated)


def _writers(tables: TableSet, run_ids: Sequence[str]) -> list[tuple[str, str, Pair]]:
    """For each dataset that these runs read, the last successful run that wrote it before."""
    steps = _steps(tables, run_ids, "inputs")
    asked = [
        (at, io_id) for at, step in enumerate(steps) for io_id in combinations(tables).writing.get(step.dataset, ())
    ]
    if not asked:
        return []
    found = tables.rows(
        _WRITERS,
        [at for at, _ in asked],
        [io_id for _, io_id in asked],
        [steps[at].at for at, _ in asked],
        [steps[at].run_id for at, _ in asked],
    )
    links = ((row["run_id"], steps[row["place"]]) for row in sorted(found, key=lambda row: row["place"]))
    return [(writer, step.run_id, step.dataset) for writer, step in links]


def _readers(tables: TableSet, run_ids: Sequence[str]) -> list[tuple[str, str, Pair]]:
    """For each dataset that these runs wrote, the runs that read it before another run wrote it again."""
    known = combinations(tables)
    steps = _steps(tables, run_ids, "outputs")
    writes = [(at, io_id) for at, step in enumerate(steps) for io_id in known.writing.get(step.dataset, ())]
    reads = [(at, io_id) for at, step in enumerate(steps) for io_id in known.reading.get(step.dataset, ())]
    if not reads:
        return []
    following = tables.rows(
        _NEXT_WRITE,
        [at for at, _ in writes],
        [io_id for _, io_id in writes],
        [steps[at].at for at, _ in writes],
        [steps[at].run_id for at, _ in writes],
    )
    until = {row["place"]: row["at"] for row in following}
    found = tables.rows(
        _READERS,
        [at for at, _ in reads],
        [io_id for _, io_id in reads],
        [steps[at].at for at, _ in reads],
        [until.get(at) for at, _ in reads],
    )
    links = ((steps[row["place"]], row["run_id"]) for row in found)
    return [(step.run_id, reader, step.dataset) for step, reader in links if reader != step.run_id]


def _steps(tables: TableSet, run_ids: Sequence[str], side: str) -> list[_Step]:
    known, rows = combinations(tables), run_rows(tables, run_ids)
    steps: dict[_Step, None] = {}
    for run_id in run_ids:
        row = rows.get(run_id)
        at = _moment(row, side) if row else None
        for one in (row or {}).get(side) or ():
            if at:
                steps[_Step(run_id, known.node(one["namespace"], one["name"]), at)] = None
    return [*steps]


def _moment(row: Row, side: str) -> datetime | None:
    """When a run reads: at its start. When it writes: at its end, if it was successful."""
    if side == "inputs":
        began: datetime | None = row["started_at"] or row["first_event_at"]
        return began
    ended: datetime | None = row["ended_at"] if row["successful"] else None
    return ended


def _drawn(
    tables: TableSet, start: str, depths: dict[str, int], links: list[tuple[str, str, Pair]], *, is_truncated: bool
) -> RunLineage:
    drawn = layout(start, depths, {(source, target) for source, target, _ in links})
    nodes = []
    for run in summaries_of(tables, sorted(depths)):
        x, y = drawn.positions[run.run_id]
        nodes.append(RunNode(**dict(run), depth=depths[run.run_id], x=x, y=y, width=SIZE.width, height=SIZE.height))
    return RunLineage(
        center=start,
        nodes=nodes,
        edges=[
            RunEdge(
                source_run=source,
                target_run=target,
                dataset=Name(namespace=dataset[0], name=dataset[1]),
                points=drawn.routes[source, target],
            )
            for source, target, dataset in sorted(links)
        ],
        width=drawn.width,
        height=drawn.height,
        truncated=is_truncated,
    )
