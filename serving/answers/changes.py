"""What changed last: violations, overdue runs, late datasets, defects, schemas and dead letters."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

from lineproof.schemas.defects import Defect
from lineproof.schemas.reasons import Reason
from lineproof.serving.answers.freshness import late_datasets
from lineproof.serving.answers.href import dataset_href, href, run_href
from lineproof.serving.answers.installation import Installation
from lineproof.serving.answers.model import Answer, Trust
from lineproof.serving.answers.open_runs import overdue_runs
from lineproof.serving.answers.paging import Paging
from lineproof.serving.answers.violations import Violation, violations
from lineproof.serving.open_tables import TableSet

SHOWN = 20
_OF_KIND = 10

_DEFECTS = "SELECT producer, defect, events, first_at FROM defects ORDER BY first_at DESC, producer, defect LIMIT ?"
_SCHEMAS = """
SELECT namespace, name, first_seen.event_time AS changed_at
FROM (SELECT *, row_number() OVER (PARTITION BY namespace, name ORDER BY first_seen.event_time, schema_hash) AS place
    FROM dataset_schemas)
WHERE place > 1 ORDER BY changed_at DESC, namespace, name LIMIT ?
"""
_DEAD_LETTERS = """
SELECT date_trunc('minute', timestamp) AS minute, reason, max(timestamp) AS came_at, count(*) AS records
FROM dead_letters GROUP BY ALL ORDER BY came_at DESC, reason LIMIT ?
"""


class Change(Answer):
    """One line of the feed."""

    at: datetime
    kind: Literal["opened", "resolved", "late", "overdue", "defect", "schema", "dead letter"]
    trust: Trust | None
    text: str
    href: str


def changes(tables: TableSet, installation: Installation) -> list[Change]:
    """The latest changes, the newest first."""
    parts = (_violations, _overdue, _defects, _schemas, _dead_letters)
    found = [*(change for part in parts for change in part(tables)), *_late(tables, installation)]
    return sorted(found, key=lambda change: change.at, reverse=True)[:SHOWN]


_OF_VIOLATIONS = ("runs", "certificates", "quality_results", "quarantine", "records", "accepted_losses")


def _latest_violations(tables: TableSet) -> list[Violation]:
    return violations(tables, None, "all", Paging(limit=SHOWN)).items


def _violations(tables: TableSet) -> Iterator[Change]:
    for one in tables.derived("latest violations", _OF_VIOLATIONS, _latest_violations):
        text = f"{one.kind}: {one.verdict}, {one.detail}"
        if one.opened_at:
            yield Change(at=one.opened_at, kind="opened", trust="broken", text=text, href=one.href)
        if one.resolved_at:
            yield Change(at=one.resolved_at, kind="resolved", trust="proven", text=text, href=one.href)


def _overdue(tables: TableSet) -> Iterator[Change]:
    expected = [
        (run.open_since + timedelta(milliseconds=run.limit_ms), run)
        for run in overdue_runs(tables)
        if run.open_since and run.limit_ms is not None
    ]
    for at, run in sorted(expected, reverse=True)[:_OF_KIND]:
        text = f"{run.job_namespace}/{run.job_name} should have ended"
        yield Change(at=at, kind="overdue", trust="unknown", text=text, href=run_href(run.run_id))


def _late(tables: TableSet, installation: Installation) -> Iterator[Change]:
    for (namespace, name), one in [*late_datasets(tables, installation).items()][-_OF_KIND:]:
        if one.loaded_at and one.limit_s is not None:
            promise = f"{one.source} promises" if one.limit_source == "declared" else "usual"
            yield Change(
                at=one.loaded_at + timedelta(seconds=one.limit_s),
                kind="late",
                trust="broken",
                text=f"{namespace}/{name} is older than {promise}",
                href=dataset_href(namespace, name),
            )


def _defects(tables: TableSet) -> Iterator[Change]:
    for row in tables.rows(_DEFECTS, _OF_KIND):
        times = "once" if row["events"] == 1 else f"{row['events']:,} times since"
        text = f"{_meaning(Defect, row['defect'])} ({row['producer'] or 'no producer'}, {times})"
        yield Change(at=row["first_at"], kind="defect", trust=None, text=text, href=href("defects"))


def _schemas(tables: TableSet) -> Iterator[Change]:
    for row in tables.rows(_SCHEMAS, _OF_KIND):
        yield Change(
            at=row["changed_at"],
            kind="schema",
            trust=None,
            text=f"{row['namespace']}/{row['name']} has another schema",
            href=dataset_href(row["namespace"], row["name"]),
        )


def _dead_letters(tables: TableSet) -> Iterator[Change]:
    for row in tables.rows(_DEAD_LETTERS, _OF_KIND):
        records = "a record" if row["records"] == 1 else f"{row['records']:,} records"
        text = f"{records}: {_meaning(Reason, row['reason'])}"
        address = href("dead-letters", reason=row["reason"])
        yield Change(at=row["came_at"], kind="dead letter", trust="broken", text=text, href=address)


def _meaning(of: type[Defect] | type[Reason], code: str) -> str:
    """The meaning of a code. Tables of a newer release may have others."""
    try:
        return of.of(code).meaning
    except StopIteration:
        return code
