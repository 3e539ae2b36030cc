"""The runs that wrote datasets. They are found by the combinations that write them, see `combinations`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.model import Answer, Name, Trust
from lineproof.serving.answers.runs import COLUMNS, RunSummary, summarise
from lineproof.serving.answers.statement import one_of
from lineproof.serving.open_tables import TableSet

MAX_LOADS = 100

_LATEST = """
SELECT {columns}, outputs, io_id FROM runs
WHERE {of_jobs} AND {of_io}
QUALIFY row_number() OVER (PARTITION BY io_id ORDER BY coalesce(ended_at, last_event_at) DESC, run_id DESC) = 1
    OR row_number() OVER (PARTITION BY io_id ORDER BY successful DESC, ended_at DESC, run_id DESC) = 1
"""
_ALL = """
SELECT {columns}, outputs FROM runs
WHERE {of_jobs} AND {of_io}
ORDER BY coalesce(ended_at, last_event_at) DESC, run_id DESC
LIMIT {limit}
"""


class Load(Answer):
    """A run that wrote a dataset."""

    run_id: str
    job: Name
    ended_at: datetime | None
    row_count: int | None
    size: int | None
    duration_ms: int | None
    trust: Trust
    reason: str
    successful: bool


@dataclass(frozen=True)
class LastLoads:
    """What is known of the latest runs that wrote a dataset."""

    last: Load | None
    """The latest run of any result."""
    successful: Load | None


def loads(tables: TableSet, node: Pair) -> list[Load]:
    """The latest runs that wrote a dataset, the newest first."""
    io_ids, jobs = _of(tables, [node])
    if not io_ids:
        return []
    query = _ALL.format(
        columns=COLUMNS, of_jobs=one_of("job_name", jobs), of_io=one_of("io_id", io_ids), limit=MAX_LOADS
    )
    rows = tables.rows(query, *jobs, *io_ids)
    names = combinations(tables).all_names(node)
    return [_load(summary, row, names) for summary, row in zip(summarise(tables, rows), rows, strict=True)]


def last_loads(tables: TableSet, nodes: Sequence[Pair]) -> dict[Pair, LastLoads]:
    """The latest run and the latest successful run that wrote each of these datasets."""
    known = combinations(tables)
    io_ids, jobs = _of(tables, nodes)
    if not io_ids:
        return {}
    query = _LATEST.format(columns=COLUMNS, of_jobs=one_of("job_name", jobs), of_io=one_of("io_id", io_ids))
    rows = tables.rows(query, *jobs, *io_ids)
    of_node: dict[Pair, list[Load]] = {}
    wanted = {*nodes}
    for summary, row in zip(summarise(tables, rows), rows, strict=True):
        written = {known.node(one["namespace"], one["name"]) for one in row["outputs"] or ()} & wanted
        for node in written:
            of_node.setdefault(node, []).append(_load(summary, row, known.all_names(node)))
    return {node: _last(found) for node, found in of_node.items()}


def _of(tables: TableSet, nodes: Sequence[Pair]) -> tuple[list[str], list[str]]:
    known = combinations(tables)
    io_ids = sorted({io_id for node in nodes for io_id in known.writing.get(node, ())})
    return io_ids, sorted({name for node in nodes for _, name in known.writers.get(node, ())})


def _last(found: list[Load]) -> LastLoads:
    newest_first = sorted(found, key=lambda load: (load.ended_at is None, load.ended_at, load.run_id), reverse=True)
    successful = [load for load in newest_first if load.successful and load.ended_at]
    return LastLoads(newest_first[0], successful[0] if successful else None)


def _load(run: RunSummary, row: dict[str, Any], names: set[Pair]) -> Load:
    written = (one for one in row["outputs"] or () if (one["namespace"], one["name"]) in names)
    output: dict[str, Any] = next(written, {})
    copied = ("run_id", "job", "ended_at", "duration_ms", "trust", "reason", "successful")
    return Load(
        row_count=output.get("row_count"),
        size=output.get("size"),
        **{name: getattr(run, name) for name in copied},
    )
