"""The expected rows of `edges`."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import product

from tests.model.entities import observations
from tests.model.events import Row, events
from tests.model.runs import runs

Ends = tuple[str | None, ...]
Transformations = list[Row | None]
Seen = tuple[datetime, datetime, str | None]
NOWHERE = (None, None, None)


def edges(values: list[bytes]) -> dict[Ends, Row]:
    """Rows by kind and ends."""
    rows: dict[Ends, Row] = {}
    for ends, (first, last, run_id), transformations in [*_of_jobs(values), *_of_columns(values)]:
        row = rows.setdefault(ends, {"first_seen_at": first, "last": (last, run_id), "transformations": []})
        row["first_seen_at"] = min(row["first_seen_at"], first)
        row["last"] = max(row["last"], (last, run_id), key=lambda last: (last[0], last[1] or ""))
        row["transformations"] += [new for new in transformations if new not in row["transformations"]]
    return rows


def _of_jobs(values: list[bytes]) -> Iterator[tuple[Ends, Seen, Transformations]]:
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
) -> Iterator[tuple[Ends, Seen, Transformations]]:
    for source in inputs:
        yield ("INPUT", *job, *source, *NOWHERE), seen, []
    for target in outputs:
        yield ("OUTPUT", *job, *NOWHERE, *target), seen, []
    for source, target in product(inputs, outputs):
        yield ("DATASET", *job, *source, *target), seen, []


def _of_columns(values: Iterable[bytes]) -> Iterator[tuple[Ends, Seen, Transformations]]:
    for event, role, entity in observations(values):
        lineage = entity.get("facets", {}).get("columnLineage") if role != "JOB" else None
        if not lineage:
            continue
        job, target = event.job or (None, None), (entity["namespace"], entity["name"])
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


def _complete(transformation: Row | None) -> Row | None:
    names = ("type", "subtype", "description", "masking")
    return None if transformation is None else {name: transformation.get(name) for name in names}


def _column(source: Row) -> Ends:
    return source["namespace"], source["name"], source["field"]


def _names(datasets: list[Row]) -> list[Ends]:
    return [(dataset["namespace"], dataset["name"], None) for dataset in datasets]
