"""Tables with loads of many rhythms, for tests of freshness."""

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.model.freshness import Pair, World, dataset_freshness, random_loads
from tests.tables import make_tables

NOW = datetime.now(timezone.utc).replace(microsecond=0)


def random_world(chance: Random, datasets: int) -> World:
    """Datasets with loads of many rhythms, jobs with and without limits, other names, and times of missing events."""
    names = [("ns", f"d{number}") for number in range(datasets)]
    runs, job_io, jobs = [], [], []
    nodes = {("lake", "path"): names[0], names[0]: names[0]}
    for number, node in enumerate(names):
        job = {"namespace": "jobs", "name": f"j{number}"}
        minutes = chance.choice((None, None, 1, 90.5, 1440.0, 0.0, -5.0, float("inf"), float("nan"), 1e300))
        jobs.append({**job, "freshness_minutes": minutes})
        job_io.append({"io_id": str(number), "jobs": [job], "inputs": [], "outputs": [named(node)]})
        for place, at in enumerate(random_loads(chance, chance.choice((0, 1, 2, 20, 21, 22, 120, 320)), NOW)):
            written = ("lake", "path") if number == 0 and place % 2 else node
            runs.append(a_run(f"{number}-{place}", at, [written], successful=chance.random() < 0.95))
    shared = {"io_id": "shared", "jobs": [named(("jobs", "j1")), named(("jobs", "j2"))], "inputs": []}
    job_io.append({**shared, "outputs": [named(names[1]), named(("ns", "never loaded"))]})
    missing: dict[Pair | None, datetime] = {}
    if chance.random() < 0.5:
        missing[None] = NOW - timedelta(seconds=chance.randint(0, 200_000))
    return World(runs, jobs, job_io, [named(("ns", "only named"))], nodes, missing)


def a_run(run_id: str, at: datetime | None, outputs: list[Pair], *, successful: bool = True) -> dict[str, Any]:
    return {"run_id": run_id, "ended_at": at, "successful": successful, "outputs": [*map(named, outputs)]}


def named(pair: Pair) -> dict[str, str]:
    return {"namespace": pair[0], "name": pair[1]}


def written(directory: Path, world: World, **more: list[dict[str, Any]]) -> Path:
    """The tables of a world."""
    nodes = [
        {"namespace": of[0], "name": of[1], "node_namespace": node[0], "node_name": node[1]}
        for of, node in (world.nodes or {}).items()
    ]
    losses = [
        {"topic": "t", "partition": 0, "first_offset": 1, "last_offset": 2, "accepted_at": at}
        for of, at in (world.missing or {}).items()
        if of is None
    ]
    rows: dict[str, Sequence[dict[str, Any]]] = {
        **{"runs": world.runs, "jobs": world.jobs, "job_io": world.job_io, "datasets": world.datasets},
        **{"dataset_nodes": nodes, "accepted_losses": losses},
        **more,
    }
    return make_tables(directory, rows)


def assert_agrees(found: dict[Pair, dict[str, Any]], world: World) -> None:
    """The view agrees with the model, unless the verdict changed while the test ran."""
    expected = [dataset_freshness(world, moment) for moment in (NOW, datetime.now(timezone.utc))]
    assert found.keys() == expected[0].keys()
    for node, row in found.items():
        assert {**row, "verdict": None}.items() >= {**expected[0][node], "verdict": None}.items(), node
        assert row["verdict"] in {of_moment[node]["verdict"] for of_moment in expected}, node
        share = row["k"] / (row["n"] + 1) if row["n"] else None
        assert row["false_alarms"] == pytest.approx(share) if share else row["false_alarms"] is None
