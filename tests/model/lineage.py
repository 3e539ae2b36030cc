"""The expected rows of `column_lineage` and `dataset_nodes`, and of the views `job_edges` and `dataset_edges`."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import product
from typing import Any

from tests.model.entities import Name, datasets, hour, observations
from tests.model.events import Row, events
from tests.model.runs import runs

Key = tuple[str | None, ...]
Seen = tuple[datetime, datetime, tuple[datetime, str] | None]
"""First and last time, and the last run with its time."""


def job_edges(values: list[bytes]) -> dict[Key, Row]:
    """Rows by job, direction and dataset."""
    nodes = dataset_nodes(values)
    return _edges(
        ((*job, side, *_node(nodes, name)), seen)
        for jobs, inputs, outputs, seen in _reads_and_writes(values)
        for side, names in (("INPUT", inputs), ("OUTPUT", outputs))
        for job, name in product(jobs, names)
    )


def dataset_edges(values: list[bytes]) -> dict[Key, Row]:
    """Rows by source, target and job."""
    nodes = dataset_nodes(values)
    of_jobs: Iterator[tuple[Key, Seen]] = (
        ((*_node(nodes, source), *_node(nodes, target), *job), seen)
        for jobs, inputs, outputs, seen in _reads_and_writes(values)
        for job, source, target in product(jobs, inputs, outputs)
    )
    of_columns: Iterator[tuple[Key, Seen]] = (
        (
            (*_node(nodes, key[2:4]), *_node(nodes, key[5:7]), *key[:2]),
            (row["first_seen_at"], row["last_seen_at"], None),
        )
        for key, row in column_lineage(values).items()
    )
    return _edges([*of_jobs, *of_columns])


def dataset_nodes(values: Iterable[bytes]) -> dict[Key, Key]:
    """The name in lineage by the name of the dataset, where they are not the same."""
    others = {key: other for key, row in datasets(values).items() if (other := _other(key, row["symlinks"]))}
    nodes: dict[Key, Key] = {}
    for name in others:
        chain = [name]
        while (following := others.get(chain[-1])) and following not in chain:
            chain.append(following)
        node = min(chain[chain.index(following) :]) if following else chain[-1]
        if node != name:
            nodes[name] = node
    return nodes


def column_lineage(values: Iterable[bytes]) -> dict[Key, Row]:
    """Rows by job, source column and target column."""
    rows: dict[Key, Row] = {}
    for key, time, transformations in _of_columns(values):
        row = rows.setdefault(key, {"first_seen_at": time, "last_seen_at": hour(time), "transformations": []})
        row["first_seen_at"] = min(row["first_seen_at"], time)
        row["last_seen_at"] = max(row["last_seen_at"], hour(time))
        row["transformations"] += [new for new in transformations if new not in row["transformations"]]
    return rows


def _edges(stated: Iterable[tuple[Key, Seen]]) -> dict[Key, Row]:
    rows: dict[Key, Row] = {}
    for key, (first, last, run) in stated:
        row = rows.setdefault(key, {"first_seen_at": first, "last_seen_at": last, "last_run": run})
        row["first_seen_at"] = min(row["first_seen_at"], first)
        row["last_seen_at"] = max(row["last_seen_at"], last)
        row["last_run"] = max((known for known in (row["last_run"], run) if known), default=None)
    return rows


def _reads_and_writes(values: list[bytes]) -> Iterator[tuple[list[Name], list[Name], list[Name], Seen]]:
    for run in runs(values).values():
        last = run["last_event_at"]
        seen: Seen = (run["first_event_at"], last, (last, run["run_id"]))
        yield _names(run["jobs"]), _names(run["inputs"]), _names(run["outputs"]), seen
    for event in events(values):
        if event.run_id is None and event.job:
            inputs, outputs = (_names(event.document.get(role, [])) for role in ("inputs", "outputs"))
            yield [event.job], inputs, outputs, (event.time, event.time, None)


def _other(key: Name, symlinks: list[Row] | None) -> Name | None:
    others = [symlink for symlink in symlinks or [] if (symlink["namespace"], symlink["name"]) != key]
    tables = [symlink for symlink in others if symlink["type"] == "TABLE"]
    return min(((symlink["namespace"], symlink["name"]) for symlink in tables or others), default=None)


def _node(nodes: dict[Key, Key], name: Any) -> Key:
    return nodes.get(tuple(name), tuple(name))


def _of_columns(values: Iterable[bytes]) -> Iterator[tuple[Key, datetime, list[Row | None]]]:
    for event, role, entity in observations(values):
        lineage = entity.get("facets", {}).get("columnLineage") if role != "JOB" else None
        if not lineage:
            continue
        job, target = event.job or (None, None), (entity["namespace"], entity["name"])
        for field, how in lineage.get("fields", {}).items():
            older = _transformation(how.get("transformationType"), how.get("transformationDescription"))
            for source in how["inputFields"]:
                stated = [*source.get("transformations", []), *older]
                yield (*job, *_column(source), *target, field), event.time, list(map(_complete, stated))
        for source in lineage.get("dataset", []):
            stated = list(map(_complete, source.get("transformations", [])))
            yield (*job, *_column(source), *target, None), event.time, stated


def _transformation(kind: str | None, description: str | None) -> list[Row]:
    return [{"type": kind, "description": description}] if kind or description else []


def _complete(transformation: Row | None) -> Row | None:
    names = ("type", "subtype", "description", "masking")
    return None if transformation is None else {name: transformation.get(name) for name in names}


def _column(source: Row) -> Key:
    return source["namespace"], source["name"], source["field"]


def _names(entities: list[Row]) -> list[Name]:
    return sorted({(entity["namespace"], entity["name"]) for entity in entities})
