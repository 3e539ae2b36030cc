"""Runs without an end, and how long each may be open: the view `open_runs`, kept until runs or jobs change.

The limit of a run needs the usual duration of its job, so the view reads all runs. Whether a run is overdue needs only
the limit and the time.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from lineproof.serving.answers.model import asked_at
from lineproof.serving.open_tables import TableSet

_OPEN = "SELECT run_id, job_namespace, job_name, state, open_since, limit_ms FROM open_runs"


class OpenRun(NamedTuple):
    """A run without an end."""

    run_id: str
    job_namespace: str | None
    job_name: str | None
    state: str
    open_since: datetime | None
    limit_ms: int | None
    """None: it may be open for ever."""

    def is_overdue(self, at: datetime) -> bool:
        """Whether it is open for too long at this time."""
        if self.open_since is None or self.limit_ms is None:
            return False
        return (at - self.open_since).total_seconds() * 1000 > self.limit_ms


def open_runs(tables: TableSet) -> dict[str, OpenRun]:
    """All of them by run id."""
    return tables.derived("open runs", ("runs", "jobs"), _open_runs)


def _open_runs(tables: TableSet) -> dict[str, OpenRun]:
    return {row[0]: OpenRun(*row) for row in tables.query(_OPEN).rows}


def overdue_runs(tables: TableSet) -> list[OpenRun]:
    """Those that are open for too long, at the time that the answer is about."""
    at = asked_at(tables)
    return [run for run in open_runs(tables).values() if run.is_overdue(at)]


def overdue_among(tables: TableSet, run_ids: Iterable[str]) -> set[str]:
    """The overdue ones among these runs without an end."""
    wanted = [*run_ids]
    if not wanted:
        return set()
    at, known = asked_at(tables), open_runs(tables)
    return {run_id for run_id in wanted if run_id in known and known[run_id].is_overdue(at)}
