"""`lineproof bench`: all benchmarks in one run, and what they gave."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lineproof.bench.emit import emission
from lineproof.bench.explain import explain as parts_of
from lineproof.bench.figures import Figure
from lineproof.bench.growth import growth
from lineproof.bench.query import query
from lineproof.bench.steady import steady
from lineproof.bench.throughput import CURATED, throughput
from lineproof.bench.world import World, world
from lineproof.cli.output import err, show
from lineproof.settings import Settings

COLUMNS = ("benchmark", "measured", "ratio", "to reach", "reached")
EVENTS_BEFORE_GROWTH = 5
STEADY_SHARE = 1 / 1667
"""With a million events, growth starts from five million and steady takes ten minutes."""


def bench(settings: Settings, events: int, json_file: Path | None, table_file: Path | None) -> None:
    """Run them, print a table, and write the figures where they are wanted."""
    say = _clock()
    figures: list[Figure] = []
    with world(settings, events, say) as place:
        for figure in _all(place):
            say(f"{figure.benchmark}: {figure.measured}")
            figures.append(figure)
            _write(json_file, [{**asdict(figure), "is_reached": figure.is_reached} for figure in figures])
    rows = [_row(figure) for figure in figures]
    show(COLUMNS, rows)
    if table_file:
        lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
        table_file.write_text("".join(f"| {' | '.join(map(str, line))} |\n" for line in lines))


def explain(settings: Settings, events: int, json_file: Path | None) -> None:
    """Print what share of a batch each of its parts takes."""
    with world(settings, events, _clock()) as place:
        parts = list(parts_of(place))
    whole = sum(part.seconds for part in parts)
    rows = [(part.name, f"{part.seconds:.1f}", f"{part.seconds / whole:.0%}") for part in parts]
    show(("part", "seconds", "share"), rows)
    _write(json_file, [asdict(part) for part in parts])


def _clock() -> Callable[[str], None]:
    """Tells the user what is going on, and since when."""
    began = time.monotonic()
    return lambda what: err.print(f"{time.monotonic() - began:6.0f} s  {what}", markup=False)


def _write(file: Path | None, documents: list[dict[str, Any]]) -> None:
    if file:
        file.write_text(json.dumps(documents, indent=2) + "\n")


def _all(place: World) -> Iterator[Figure]:
    place.say("emit")
    yield from emission()
    yield from throughput(place)
    yield from query(place, CURATED)
    place.remove(CURATED)
    yield from steady(place, max(30, round(place.events * STEADY_SHARE)))
    yield from growth(place, place.events * EVENTS_BEFORE_GROWTH)


def _row(figure: Figure) -> tuple[object, ...]:
    return (
        figure.benchmark,
        figure.measured,
        "" if figure.share is None else f"{figure.share:.2f}",
        figure.goal,
        {None: "", True: "yes", False: "NO"}[figure.is_reached],
    )
