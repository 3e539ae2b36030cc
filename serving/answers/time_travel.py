"""What was known at a time, against what is known now."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from lineproof.serving.answers.combinations import Pair
from lineproof.serving.answers.model import Answer, ExactCount, Name
from lineproof.serving.answers.schemas import ChangedField, types_of
from lineproof.serving.answers.schemas import difference as schema_difference
from lineproof.serving.lineage_graph import Node, lineage_graph
from lineproof.serving.open_tables import TableSet

SHOWN = 500
"""Of each kind; the counts are of all."""

_STATE = "run_id, job_namespace, job_name, state, successful, ledger_verdict, ledger_difference, certificate_verdict"


class KnownState(Answer):
    """Which state of the tables answers for the earlier time."""

    how: str
    at: datetime | None
    oldest_at: datetime | None


class RunState(Answer):
    """What was known of a run."""

    state: str
    successful: bool | None
    ledger_verdict: str | None
    ledger_difference: ExactCount | None
    certificate_verdict: str | None


class AddedRun(Answer):
    """A run that was not known then."""

    run_id: str
    job: Name
    state: str


class ChangedRun(Answer):
    """A run of which something else was known."""

    run_id: str
    job: Name
    before: RunState
    after: RunState


class Runs(Answer):
    """The runs that differ."""

    added_count: int
    changed_count: int
    added: list[AddedRun]
    changed: list[ChangedRun]


class Names(Answer):
    """The jobs or datasets that differ."""

    added_count: int
    removed_count: int
    added: list[Name]
    removed: list[Name]


class Edge(Answer):
    """A step from a dataset to a job, from a job to a dataset, or between datasets."""

    source_kind: str
    source: Name
    target_kind: str
    target: Name


class Edges(Answer):
    """The edges that differ."""

    added_count: int
    removed_count: int
    added: list[Edge]
    removed: list[Edge]


class ChangedSchema(Answer):
    """A dataset that had another schema."""

    namespace: str
    name: str
    added: list[str]
    removed: list[str]
    changed: list[ChangedField]


class TimeDifference(Answer):
    """What has become known since."""

    at: datetime | None
    known: KnownState
    runs: Runs
    jobs: Names
    datasets: Names
    edges: Edges
    schemas: list[ChangedSchema]
    sql: str


@dataclass(frozen=True)
class _Sides:
    """SQL for the rows of a table that can differ: those in files that only one of the two states has."""

    before: str
    after: str


def difference(then: TableSet, now: TableSet) -> TimeDifference:
    """Compare two states of the tables."""
    known = then.known
    return TimeDifference(
        at=known.at,
        known=KnownState(how=known.how, at=known.at, oldest_at=known.oldest_at),
        runs=_runs(then, now),
        jobs=_names(then, now, "jobs"),
        datasets=_names(then, now, "datasets"),
        edges=_edges(then, now),
        schemas=_schemas(then, now),
        sql=f"SELECT {_STATE} FROM runs ORDER BY run_id",
    )


def _runs(then: TableSet, now: TableSet) -> Runs:
    before, after = _states(then, now)
    added = [row for run_id, row in after.items() if run_id not in before]
    changed = [(before[run_id], row) for run_id, row in after.items() if run_id in before and before[run_id] != row]
    return Runs(
        added_count=len(added),
        changed_count=len(changed),
        added=[AddedRun(run_id=row[0], job=_job(row), state=row[3]) for row in added[:SHOWN]],
        changed=[
            ChangedRun(run_id=new[0], job=_job(new), before=_state(old), after=_state(new))
            for old, new in changed[:SHOWN]
        ],
    )


_Row = tuple[Any, ...]


def _states(then: TableSet, now: TableSet) -> tuple[dict[str, _Row], dict[str, _Row]]:
    """The runs that can differ, in both states, the newest first."""
    if then.known.how == "event time":
        since = "last_event_at > ?"
        rows = now.query(f"SELECT {_STATE} FROM runs WHERE {since} ORDER BY last_event_at DESC", then.known.at).rows
        ids = "SELECT run_id FROM runs WHERE first_event_at <= ? AND last_event_at >= ?"
        old = then.query(f"SELECT {_STATE} FROM runs WHERE run_id IN ({ids})", then.known.at, then.known.at).rows
        return _by_id(old), _by_id(rows)
    sides = _only_in_one("runs", then, now)
    if sides is None:
        return {}, {}
    order = "ORDER BY last_event_at DESC, run_id"
    return (
        _by_id(now.query(f"SELECT {_STATE} FROM ({sides.before}) AS runs").rows),
        _by_id(now.query(f"SELECT {_STATE} FROM ({sides.after}) AS runs {order}").rows),
    )


def _only_in_one(table: str, then: TableSet, now: TableSet) -> _Sides | None:
    """Rows of files that both states have are the same in both."""
    old, new = then.snapshots.get(table), now.snapshots.get(table)
    if new is None:
        return None
    before = {file.path: file for file in old.files} if old else {}
    after = {file.path: file for file in new.files}
    with duckdb.connect() as connection:  # only for the types of the columns
        return _Sides(
            (old or new).select(connection, [file for path, file in before.items() if path not in after]),
            new.select(connection, [file for path, file in after.items() if path not in before]),
        )


def _by_id(rows: list[_Row]) -> dict[str, _Row]:
    return {row[0]: row for row in rows}


def _job(row: _Row) -> Name:
    return Name(namespace=row[1] or "", name=row[2] or "")


def _state(row: _Row) -> RunState:
    return RunState(
        state=row[3], successful=row[4], ledger_verdict=row[5], ledger_difference=row[6], certificate_verdict=row[7]
    )


def _names(then: TableSet, now: TableSet, table: str) -> Names:
    query = f"SELECT namespace, name FROM {table}"
    before: set[Pair] = {*then.query(query).rows}
    after: set[Pair] = {*now.query(query).rows}
    added, removed = sorted(after - before), sorted(before - after)
    return Names(
        added_count=len(added),
        removed_count=len(removed),
        added=[Name(namespace=one[0], name=one[1]) for one in added[:SHOWN]],
        removed=[Name(namespace=one[0], name=one[1]) for one in removed[:SHOWN]],
    )


def _edges(then: TableSet, now: TableSet) -> Edges:
    before = {*lineage_graph(then).edges()}
    after = {*lineage_graph(now).edges()}
    added, removed = sorted(after - before), sorted(before - after)
    return Edges(
        added_count=len(added),
        removed_count=len(removed),
        added=[_edge(*one) for one in added[:SHOWN]],
        removed=[_edge(*one) for one in removed[:SHOWN]],
    )


def _edge(source: Node, target: Node) -> Edge:
    return Edge(
        source_kind=source.kind,
        source=Name(namespace=source.namespace, name=source.name),
        target_kind=target.kind,
        target=Name(namespace=target.namespace, name=target.name),
    )


_LATEST_SCHEMAS = """
SELECT namespace, name, arg_max(fields, struct_pack(at := last_seen.event_time, hash := schema_hash)) AS fields
FROM dataset_schemas GROUP BY namespace, name
"""


def _schemas(then: TableSet, now: TableSet) -> list[ChangedSchema]:
    """Datasets whose latest schema differs. A dataset that was not known then is not listed."""
    before = {(row[0], row[1]): row[2] for row in then.query(_LATEST_SCHEMAS).rows}
    found = []
    for namespace, name, fields in sorted(now.query(_LATEST_SCHEMAS).rows, key=lambda row: row[:2]):
        if (namespace, name) not in before:
            continue
        added, removed, changed = schema_difference(types_of(before[namespace, name]), types_of(fields))
        if added or removed or changed:
            found.append(ChangedSchema(namespace=namespace, name=name, added=added, removed=removed, changed=changed))
    return found[:SHOWN]
