"""The table `edges`, as a fold."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import product

from tests.model.events import Row, events
from tests.model.runs import runs
from tests.model.things import sightings

Ends = tuple[str | None, ...]
Seen = tuple[datetime, datetime, str | None]
NOWHERE = (None, None, None)


def edges(values: list[bytes]) -> dict[Ends, Row]:
    """Kind and ends to row."""
    rows: dict[Ends, Row] = {}
    for ends, (first, last, run_id), transformations in [*_of_jobs(values), *_of_columns(values)]:
        row = rows.setdefault(ends, {"first_seen_at": first, "last": (last, run_id), "transformations": []})
        row["first_seen_at"] = min(row["first_seen_at"], first)
        row["last"] = max(row["last"], (last, run_id), key=lambda one: (one[0], one[1] or ""))
        row["transformations"] += [one for one in transformations if one not in row["transformations"]]
    return rows


def _of_jobs(values: list[bytes]) -> Iterator[tuple[Ends, Seen, list[Row]]]:
    for run in runs(values).values():
        seen = (run["first_event_at"], run["last_event_at"], run["run_id"])
        for job in run["jobs"]:
            yield from _of_job((job["namespace"], job["name"]), _names(run["inputs"]), _names(run["outputs"]), seen)
    for event in events(values):
        if event.run_id is None and event.job:
            inputs, outputs = (_names(event.document.get(role, [])) for role in ("inputs", "outputs"))
            yield from _of_job(event.job, inputs, outputs, (event.time, event.time, None))


def _of_job(
    job: tuple[str, str], inputs: list[Ends], outputs: list[Ends], seen: Seen
) -> Iterator[tuple[Ends, Seen, list[Row]]]:
    for source in inputs:
        yield ("INPUT", *job, *source, *NOWHERE), seen, []
    for target in outputs:
        yield ("OUTPUT", *job, *NOWHERE, *target), seen, []
    for source, target in product(inputs, outputs):
        yield ("DATASET", *job, *source, *target), seen, []


def _of_columns(values: Iterable[bytes]) -> Iterator[tuple[Ends, Seen, list[Row]]]:
    for event, role, thing in sightings(values):
        lineage = thing.get("facets", {}).get("columnLineage") if role != "JOB" else None
        if not lineage:
            continue
        job, target = event.job or (None, None), (thing["namespace"], thing["name"])
        seen = (event.time, event.time, event.run_id)
        for field, how in lineage.get("fields", {}).items():
            older = _transformation(how.get("transformationType"), how.get("transformationDescription"))
            for source in how["inputFields"]:
                stated = [*source.get("transformations", []), *older]
                yield ("COLUMN", *job, *_column(source), *target, field), seen, list(map(_complete, stated))
        for source in lineage.get("dataset", []):
            stated = list(map(_complete, source.get("transformations", [])))
            yield ("COLUMN", *job, *_column(source), *target, None), seen, stated


def _transformation(kind: str | None, description: str | None) -> list[Row]:
    return [{"type": kind, "description": description}] if kind or description else []


def _complete(transformation: Row) -> Row:
    return {name: transformation.get(name) for name in ("type", "subtype", "description", "masking")}


def _column(source: Row) -> Ends:
    return source["namespace"], source["name"], source["field"]


def _names(datasets: list[Row]) -> list[Ends]:
    return [(one["namespace"], one["name"], None) for one in datasets]
