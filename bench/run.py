"""`lineproof bench`: all benchmarks in one run, and what they gave."""

import json
import time
from dataclasses import asdict
from pathlib import Path

from lineproof.bench.throughput import Figure, throughput
from lineproof.bench.world import world
from lineproof.output import err, show
from lineproof.settings import Settings

COLUMNS = ("benchmark", "records", "seconds", "records/s", "ratio", "to", "to reach")


def bench(settings: Settings, events: int, json_file: Path | None) -> None:
    """Run them, print a table, and write the figures where they are wanted."""
    began = time.monotonic()

    def say(what: str) -> None:
        err.print(f"{time.monotonic() - began:6.0f} s  {what}", markup=False)

    figures: list[Figure] = []
    with world(settings, events, say) as place:
        for figure in throughput(place):
            say(f"{figure.benchmark}: {figure.per_second:,.0f} records/s")
            figures.append(figure)
    show(COLUMNS, [_row(figure) for figure in figures])
    if json_file:
        json_file.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")


def _row(figure: Figure) -> tuple[object, ...]:
    return (
        figure.benchmark,
        figure.records,
        round(figure.seconds, 1),
        round(figure.per_second),
        round(figure.ratio, 3),
        figure.compared_with,
        figure.to_reach,
    )
