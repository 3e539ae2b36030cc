"""Overhead of the telemetry writer in a pipeline: the same work without it, with it, and with it switched off.

.venv/bin/python bench/telemetry.py [--rows 200000]
"""

import json
import time
from typing import Annotated

import typer

from lineproof.cli.output import show
from lineproof.producers.telemetry import Telemetry

ROUNDS = 15


def main(rows: Annotated[int, typer.Option(min=1000, help="Rows in each round.")] = 200_000) -> None:
    """Measure the telemetry writer as a share of the work around it: parsing a line of JSON, and a sum."""
    lines = [json.dumps({"id": number, "hours": number % 9, "company": "acme"}) for number in range(rows)]
    variants = {"without": plain, "with": measured, "switched off": switched_off}
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(ROUNDS):  # alternating, so that a slow moment of the machine affects all of them
        for name, work in variants.items():
            began = time.perf_counter()
            work(lines)
            seconds[name].append(time.perf_counter() - began)
    floor = min(seconds["without"])
    show(
        ["telemetry", "µs a row", "overhead %"],
        [[name, round(min(s) / rows * 1e6, 3), round((min(s) / floor - 1) * 100, 1)] for name, s in seconds.items()],
    )


def plain(lines: list[str]) -> int:
    total = 0
    for line in lines:
        total += json.loads(line)["hours"]
    return total


def measured(lines: list[str], off: tuple[str, ...] = ()) -> int:
    total = 0
    with Telemetry(off).morphism("sum") as step:
        for line in step.over(lines):
            total += json.loads(line)["hours"]
        step.output_rows = 1
        step.quality["mean"] = total / len(lines)
    return total


def switched_off(lines: list[str]) -> int:
    return measured(lines, ("sum",))


if __name__ == "__main__":
    typer.run(main)
