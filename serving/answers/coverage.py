"""How much of what should be known is known: critical pipelines, and what events, runs and datasets have.

Nothing is 100 % of a whole that nobody knows: where the whole is not known, there is no share.
"""

from datetime import datetime, timedelta

from lineproof.serving.answers.coverage_counts import Counted, counted
from lineproof.serving.answers.installation import CriticalPipeline, Installation
from lineproof.serving.answers.lag import Lag, lag
from lineproof.serving.answers.model import Answer, asked_at
from lineproof.serving.answers.statement import one_of
from lineproof.serving.open_tables import TableSet

SQL = "SELECT job_namespace, job_name, max(last_event_at) AS last_event_at FROM runs GROUP BY ALL ORDER BY ALL"
_SEEN = """
SELECT job.namespace, job.name, max(last_event_at)
FROM (SELECT unnest(jobs) AS job, last_event_at FROM runs)
WHERE {chosen} GROUP BY ALL
"""
CLOCK_TOLERANCE = timedelta(minutes=5)


class NotSeen(Answer):
    """A critical pipeline without an event in its period."""

    namespace: str
    name: str
    period_s: int
    last_seen_at: datetime | None
    """Null: never."""
    missing_since: datetime | None
    """When an event should have come at the latest; null if there never was one."""


class Coverage(Answer):
    """How many of the listed pipelines were seen in their period. `of` is null without a list."""

    seen: int
    of: int | None
    ratio: float | None
    """Pipelines of which nobody knows are not covered."""
    source: str
    missing: list[NotSeen]
    unknown: list[NotSeen]
    """Not seen either, but the job is stopped or behind, so they may be in events that it has not read."""
    unknown_because: str | None
    counts: list[Counted]
    sql: str = SQL


def coverage(tables: TableSet, installation: Installation) -> Coverage:
    """Runs in the tables against the list of the installation."""
    behind = lag(installation) if tables.known.how == "now" else None
    behind = behind if behind and behind.trust != "proven" else None
    if installation.pipelines is None:
        return Coverage(
            seen=tables.scalar("SELECT count(*) FROM jobs"),
            of=None,
            ratio=None,
            source="no list of critical pipelines",
            missing=[],
            unknown=[],
            unknown_because="no list of critical pipelines is configured (coverage.pipelines)",
            counts=counted(tables, behind),
        )
    pipelines = [CriticalPipeline(*one) for one in installation.pipelines]
    absent = _absent(tables, pipelines)
    seen, of = len(pipelines) - len(absent), len(pipelines)
    return Coverage(
        seen=seen,
        of=of,
        ratio=seen / of if of else None,
        source=installation.pipelines_from or "the list of critical pipelines",
        missing=absent if not behind else [],
        unknown=absent if behind else [],
        unknown_because=_because(behind, absent, of),
        counts=counted(tables, behind),
    )


def _because(behind: Lag | None, absent: list[NotSeen], of: int) -> str | None:
    if not of:
        return "the list of critical pipelines is empty"
    return behind.text if behind and absent else None


def _absent(tables: TableSet, pipelines: list[CriticalPipeline]) -> list[NotSeen]:
    now, names = asked_at(tables), sorted({one.name for one in pipelines})
    rows = tables.query(_SEEN.format(chosen=one_of("job.name", names)), *names).rows
    last = {(namespace, name): at for namespace, name, at in rows}
    found = []
    for one in pipelines:
        at, period = last.get((one.namespace, one.name)), timedelta(seconds=one.period_s)
        is_seen = at is not None and now - period <= at <= now + CLOCK_TOLERANCE
        if not is_seen:
            since = at + period if at and at + period <= now else None
            found.append(
                NotSeen(
                    namespace=one.namespace,
                    name=one.name,
                    period_s=round(one.period_s),
                    last_seen_at=at,
                    missing_since=since,
                )
            )
    return sorted(found, key=lambda one: (one.missing_since is not None, one.missing_since, one.namespace, one.name))
