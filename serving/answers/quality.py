"""Results of tests, from any tool."""

from datetime import datetime
from typing import Any

from lineproof.serving.answers.model import Answer, Page
from lineproof.serving.answers.paging import Key, Paging, page
from lineproof.serving.answers.statement import Conditions, one_of
from lineproof.serving.open_tables import TableSet

COLUMNS = """
result_id, namespace, name, suite, expectation, "column", success, severity, expected, observed, unexpected_count,
unexpected_share, samples, error, duration_ms, run_id, job_namespace, job_name, event_time
""".replace("\n", " ").strip()
_LATEST = COLUMNS.replace("duration_ms, ", "")
KEYS = (Key("event_time", is_descending=True, is_time=True), Key("result_id"))
_SUMMARY = """
SELECT namespace, name, count(*) AS tests, count(*) FILTER (NOT success) AS failed,
    count(*) FILTER (error IS NOT NULL) AS not_run, max(event_time) AS last_at
FROM latest_results GROUP BY namespace, name
"""
_SUMMARY_KEYS = (Key("failed", is_descending=True), Key("namespace_key"), Key("name_key"))


class QualityResult(Answer):
    """One result of one test."""

    result_id: str
    namespace: str | None
    name: str | None
    suite: str | None
    expectation: str | None
    column: str | None
    success: bool | None
    """None: the test was skipped."""
    severity: str | None
    expected: str | None
    observed: str | None
    unexpected_count: int | None
    unexpected_share: float | None
    samples: list[str]
    error: str | None
    run_id: str | None
    job_namespace: str | None
    job_name: str | None
    event_time: datetime | None


class TestedDataset(Answer):
    """The latest results of the tests of one dataset. Without a name: of tests that name no dataset."""

    namespace: str | None
    name: str | None
    tests: int
    failed: int
    not_run: int
    last_at: datetime | None


def quality(
    tables: TableSet,
    namespace: str | None,
    name: str | None,
    success: bool | None,
    paging: Paging,
) -> Page[QualityResult]:
    """All results, the newest first."""
    conditions = Conditions()
    conditions.equal("namespace", namespace)
    conditions.equal("name", name)
    if success is not None:
        conditions.add("success" if success else "NOT success")
    found = page(
        tables, f"SELECT {COLUMNS} FROM quality_results {conditions.where}", conditions.parameters, KEYS, paging
    )
    return Page(items=[_result(row) for row in found.rows], next_cursor=found.next_cursor, sql=found.sql)


def latest_tests(tables: TableSet, pairs: list[tuple[str, str]]) -> list[QualityResult]:
    """The latest result of each test of these datasets: failed ones first."""
    rows = tables.rows(
        f"SELECT {_LATEST} FROM latest_results WHERE {{'namespace': namespace, 'name': name}} IN ? "
        'ORDER BY success, expectation, "column" NULLS FIRST, result_id',
        [{"namespace": namespace, "name": name} for namespace, name in pairs],
    )
    return [_result(row) for row in rows]


def failed_tests(tables: TableSet, pairs: list[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """How many tests of each of these datasets failed when they last ran."""
    names = sorted({name for _, name in pairs})
    rows = tables.query(
        "SELECT namespace, name, count(*) FROM latest_results "
        f"WHERE NOT success AND {one_of('name', names)} GROUP BY namespace, name",
        *names,
    ).rows
    return {(namespace, name): count for namespace, name, count in rows}


def quality_summary(tables: TableSet, paging: Paging) -> Page[TestedDataset]:
    """The datasets that are tested, those with the most failures first."""
    query = f"SELECT *, coalesce(namespace, '') AS namespace_key, coalesce(name, '') AS name_key FROM ({_SUMMARY})"
    found = page(tables, query, (), _SUMMARY_KEYS, paging)
    fields = TestedDataset.model_fields
    items = [TestedDataset(**{column: row[column] for column in fields}) for row in found.rows]
    return Page(items=items, next_cursor=found.next_cursor, sql=found.sql)


def _result(row: dict[str, Any]) -> QualityResult:
    columns = QualityResult.model_fields.keys() - {"samples"}
    return QualityResult(samples=row["samples"] or [], **{column: row[column] for column in columns})
