"""What each query of the job does right now, and whether it makes progress.

Spark knows the batches that have finished, and whether a trigger is active. How long it has been active, and whether
that is longer than usual, is known only to the one who keeps looking.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lineproof.schemas.durations import approximately, utc
from lineproof.schemas.heartbeat import RUNNING, STALLED, WAITING

RATE_S = 300.0
"""Rates are means over the last five minutes."""

USUAL, LAST = 3, 20
"""A batch may take this many times as long as the longest of so many last batches."""


@dataclass(frozen=True)
class FinishedBatch:
    """A batch with rows, and when it was done."""

    batch: int
    rows: int
    seconds: float
    ended_at: float


@dataclass
class QueryState:
    """One query. Times are seconds since 1970."""

    name: str
    started_at: float
    active_since: float | None = None
    position: Any = None
    is_stalled: bool = False
    finished: deque[FinishedBatch] = field(default_factory=lambda: deque(maxlen=1000))

    def observe(self, now: float, *, is_active: bool, has_advanced: bool) -> None:
        """Note whether a trigger is active; it is another one than before, if the query has advanced."""
        if not is_active:
            self.active_since = None
        elif self.active_since is None or has_advanced:
            self.active_since = now

    def limit_s(self, stalled_after_s: float) -> float:
        """How long a batch may run."""
        usual = max((batch.seconds for batch in list(self.finished)[-LAST:]), default=0.0)
        return max(stalled_after_s, USUAL * usual)

    def check(self, now: float, stalled_after_s: float) -> str | None:
        """A line for the log if the query has stalled, or goes on after it had stalled."""
        since = self.active_since
        was_stalled = self.is_stalled
        self.is_stalled = since is not None and now - since > self.limit_s(stalled_after_s)
        if since is not None and self.is_stalled and not was_stalled:
            age = approximately(now - since)
            return f"Query {self.name} has stalled: its batch has run for {age}, since {utc(since)}."
        if was_stalled and not self.is_stalled:
            return f"Query {self.name} makes progress again."
        return None

    def document(self, now: float) -> dict[str, Any]:
        """The state as the heartbeat has it."""
        state = STALLED if self.is_stalled else WAITING if self.active_since is None else RUNNING
        last = self.finished[-1] if self.finished else None
        return {
            "state": state,
            "since": self.active_since,
            "batch": last and last.batch,
            "rows": last and last.rows,
            "seconds": last and last.seconds,
            "ended_at": last and last.ended_at,
            "records_per_second": round(self._rate(now), 1),
            "position": self.position,
        }

    def _rate(self, now: float) -> float:
        begin = max(self.started_at, now - RATE_S)
        return sum(batch.rows for batch in list(self.finished) if batch.ended_at >= begin) / max(1.0, now - begin)


class QueryStates:
    """All queries of the job, by name."""

    def __init__(self, stalled_after_s: float) -> None:
        self._stalled_after_s = stalled_after_s
        self._queries: dict[str, QueryState] = {}

    def of(self, name: str, now: float) -> QueryState:
        """The state of a query."""
        return self._queries.setdefault(name, QueryState(name, now))

    def check(self, now: float) -> Iterator[str]:
        """Lines for the log."""
        return filter(None, [query.check(now, self._stalled_after_s) for query in list(self._queries.values())])

    def document(self, now: float) -> dict[str, Any]:
        """All states as the heartbeat has them."""
        return {query.name: query.document(now) for query in list(self._queries.values())}
