"""`lineproof bench`: run all benchmarks and show their results."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from lineproof.bench.api import api
from lineproof.bench.emit import emission
from lineproof.bench.environment import Environment, benchmark_environment
from lineproof.bench.explain import explain as steps_of
from lineproof.bench.figures import Figure
from lineproof.bench.first_use import first_use
from lineproof.bench.gateway import gateway
from lineproof.bench.growth import growth
from lineproof.bench.query import query
from lineproof.bench.steady import steady
from lineproof.bench.throughput import CURATED, throughput
from lineproof.cli.output import err, show
from lineproof.settings import Settings

PARTS: dict[str, Callable[[Environment], Iterator[Figure]]] = {
    "emit": lambda _: emission(),
    "gateway": lambda _: gateway(),
    "api": lambda _: api(),
    "throughput": lambda environment: chain(throughput(environment), query(environment, CURATED)),
    "steady": lambda environment: steady(environment, max(30, round(environment.events * STEADY_SHARE))),
    "growth": lambda environment: growth(environment, environment.events * EVENTS_BEFORE_GROWTH),
    "first-use": first_use,
}
"""The benchmarks by name, in the order in which they run."""

COLUMNS = ("benchmark", "measured", "ratio", "to reach", "reached")
EVENTS_BEFORE_GROWTH = 5
STEADY_SHARE = 1 / 1667
"""With a million events, growth starts with five million and steady takes ten minutes."""


def bench(
    settings: Settings, events: int, json_file: Path | None, table_file: Path | None, only: Sequence[str] = ()
) -> None:
    """Run all benchmarks, or only some, print a table, and write the figures to the given files."""
    log = _log_with_time()
    figures: list[Figure] = []
    with benchmark_environment(settings, events, log) as environment:
        for figure in _measured(environment, only or [*PARTS]):
            log(f"{figure.benchmark}: {figure.measured}")
            figures.append(figure)
            _write(json_file, [{**asdict(figure), "is_reached": figure.is_reached} for figure in figures])
    rows = [_row(figure) for figure in figures]
    show(COLUMNS, rows)
    if table_file:
        lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
        table_file.write_text("".join(f"| {' | '.join(map(str, line))} |\n" for line in lines))


def explain(settings: Settings, events: int, json_file: Path | None) -> None:
    """Print the share of a batch's time that each step takes."""
    with benchmark_environment(settings, events, _log_with_time()) as environment:
        steps = list(steps_of(environment))
    whole = sum(step.seconds for step in steps)
    rows = [(step.name, f"{step.seconds:.1f}", f"{step.seconds / whole:.0%}") for step in steps]
    show(("step", "seconds", "share"), rows)
    _write(json_file, [asdict(step) for step in steps])


def _log_with_time() -> Callable[[str], None]:
    """Print messages with the seconds since the start."""
    began = time.monotonic()
    return lambda message: err.print(f"{time.monotonic() - began:6.0f} s  {message}", markup=False)


def _write(file: Path | None, documents: list[dict[str, Any]]) -> None:
    if file:
        file.write_text(json.dumps(documents, indent=2) + "\n")


def _measured(environment: Environment, names: Sequence[str]) -> Iterator[Figure]:
    for name, part in PARTS.items():
        if name in names:
            environment.log(name)
            yield from part(environment)
    environment.delete(CURATED)


def _row(figure: Figure) -> tuple[object, ...]:
    return (
        figure.benchmark,
        figure.measured,
        "" if figure.share is None else f"{figure.share:.2f}",
        figure.goal,
        {None: "", True: "yes", False: "NO"}[figure.is_reached],
    )
