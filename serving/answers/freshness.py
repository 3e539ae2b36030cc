"""Whether datasets are as new as the jobs that write them promise."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.dataset_loads import LastLoads, last_loads
from lineproof.serving.answers.model import Answer, Page, asked_at
from lineproof.serving.answers.paging import Paging, slice_of
from lineproof.serving.open_tables import TableSet

Verdict = Literal["fresh", "late", "unknown"]
NO_LIMIT = "no limit is declared"
SQL = "SELECT namespace, name, freshness_minutes FROM jobs WHERE freshness_minutes IS NOT NULL ORDER BY namespace, name"
_ORDER = ("late", "unknown", "fresh")


class Freshness(Answer):
    """How old a dataset is, and how old it may be."""

    verdict: Verdict
    reason: str
    age_s: int | None
    limit_s: int | None
    source: str | None
    """The job that declares the limit."""


class DatasetFreshness(Freshness):
    """The same with the dataset."""

    namespace: str
    name: str
    last_loaded_at: datetime | None


@dataclass(frozen=True)
class Limit:
    """How old a dataset may be."""

    seconds: int
    source: str


def limits(tables: TableSet) -> dict[Pair, Limit]:
    """The datasets that a job with a declared freshness writes. Of several limits, the shortest counts."""
    return tables.derived("freshness limits", ("jobs", "job_io", "dataset_nodes"), _limits)


def _limits(tables: TableSet) -> dict[Pair, Limit]:
    declared = {(row[0], row[1]): round(row[2] * 60) for row in tables.query(SQL).rows}
    found: dict[Pair, Limit] = {}
    for node, jobs in combinations(tables).writers.items() if declared else ():
        stated = sorted((declared[job], f"{job[0]}/{job[1]}") for job in jobs if job in declared)
        if stated:
            found[node] = Limit(*stated[0])
    return found


def freshness_of(limit: Limit | None, loads: LastLoads | None, now: datetime) -> Freshness:
    """The verdict on one dataset."""
    successful = loads.successful if loads else None
    age_s = round((now - successful.ended_at).total_seconds()) if successful and successful.ended_at else None
    if limit is None:
        return Freshness(verdict="unknown", reason=NO_LIMIT, age_s=age_s, limit_s=None, source=None)
    stated = {"age_s": age_s, "limit_s": limit.seconds, "source": limit.source}
    if age_s is None:
        return Freshness(verdict="unknown", reason="no successful run has written it", **stated)
    if age_s > limit.seconds:
        return Freshness(verdict="late", reason="the last successful load is older than the limit", **stated)
    return Freshness(verdict="fresh", reason="loaded within the limit", **stated)


def declared_freshness(tables: TableSet) -> list[DatasetFreshness]:
    """All datasets that have a limit: the late ones first, the oldest first."""
    found = limits(tables)
    loads = last_loads(tables, [*found]) if found else {}
    answers = [_of_dataset(node, limit, loads.get(node), asked_at(tables)) for node, limit in found.items()]
    return sorted(answers, key=lambda one: (_ORDER.index(one.verdict), -(one.age_s or 0), one.namespace, one.name))


def freshness(tables: TableSet, verdict: Verdict | None, paging: Paging) -> Page[DatasetFreshness]:
    """Datasets with a limit, and after them those without one."""
    found = declared_freshness(tables)
    with_limit = {(one.namespace, one.name) for one in found}
    others = _others(tables, with_limit) if verdict in (None, "unknown") else []
    chosen = [one for one in found if verdict in (None, one.verdict)]
    items, cursor = slice_of([*chosen, *others], paging)
    filled = _filled(tables, items)
    return Page(items=filled, next_cursor=cursor, sql=SQL)


def _others(tables: TableSet, known: set[Pair]) -> list[Pair]:
    rows = tables.query("SELECT namespace, name FROM datasets ORDER BY namespace, name").rows
    return [(namespace, name) for namespace, name in rows if (namespace, name) not in known]


def _filled(tables: TableSet, items: Sequence[DatasetFreshness | Pair]) -> list[DatasetFreshness]:
    loads = last_loads(tables, [one for one in items if isinstance(one, tuple)])
    now = asked_at(tables)
    return [_of_dataset(one, None, loads.get(one), now) if isinstance(one, tuple) else one for one in items]


def _of_dataset(node: Pair, limit: Limit | None, loads: LastLoads | None, now: datetime) -> DatasetFreshness:
    last = loads.successful if loads else None
    return DatasetFreshness(
        namespace=node[0],
        name=node[1],
        last_loaded_at=last.ended_at if last else None,
        **dict(freshness_of(limit, loads, now)),
    )
