"""Events of a small pipeline with known row counts."""

import json
import uuid
from collections.abc import Sequence

from tests.events import document

Counted = tuple[str, int | None]
SIZES = (100, 200, 300, 400)
"""Rows that the successful runs of `load` write, one after the other."""
_FACET = {"_producer": "https://example.com", "_schemaURL": "https://example.com/s"}


def event(job: str, kind: str, minute: int, inputs: Sequence[Counted], outputs: Sequence[Counted]) -> bytes:
    """One event of a run, which is named by its job and minute."""
    hour, rest = divmod(minute, 60)
    second = 0 if kind == "START" else 30
    return json.dumps(
        document(
            eventType=kind,
            eventTime=f"2026-01-31T{10 + hour:02}:{rest:02}:{second:02}Z",
            run={"runId": run_id(job, minute)},
            job={"namespace": "shop", "name": job},
            inputs=[_dataset(name, "inputFacets", "inputStatistics", rows) for name, rows in inputs],
            outputs=[_dataset(name, "outputFacets", "outputStatistics", rows) for name, rows in outputs],
        )
    ).encode()


def run_id(job: str, minute: int) -> str:
    """The id of a run."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{job} {minute}"))


def run_events(
    job: str, minute: int, inputs: Sequence[Counted], outputs: Sequence[Counted], end: str = "COMPLETE"
) -> list[bytes]:
    """A run that takes thirty seconds."""
    return [event(job, "START", minute, inputs, outputs), event(job, end, minute, inputs, outputs)]


def pipeline() -> list[bytes]:
    """raw → load → orders → report → totals, and forty readers of orders: the first four read at special times."""
    made: list[bytes] = []
    for place, rows in enumerate(SIZES):
        made += run_events("load", place * 10, [("raw", rows + 5)], [("orders", rows)])
    made += run_events("load", 15, [("raw", 1)], [("orders", 1)], "FAIL")
    made += run_events("report", 50, [("orders", SIZES[-1])], [("totals", 3)])
    reads: dict[int, tuple[int, int | None]] = {
        0: (40, SIZES[-1]),
        1: (5, SIZES[0]),
        2: (41, SIZES[-1] - 2),
        3: (42, SIZES[-1] + 1),
    }
    for number in range(40):
        minute, read = reads.get(number, (43, None))
        made += run_events(f"reader {number:02}", minute, [("orders", read)], [])
    return made


def _dataset(name: str, facets: str, facet: str, rows: int | None) -> dict[str, object]:
    counted = {facets: {facet: {**_FACET, "rowCount": rows}}} if rows is not None else {}
    return {"namespace": "shop", "name": name, **counted}
