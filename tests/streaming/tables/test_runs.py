"""Every line of docs/runs.md, in any order of arrival."""

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lineproof.serving.sql import Tables
from tests.certificates import draft, facet_of
from tests.histories import FACET
from tests.streaming.curated import curated
from tests.streaming.story import WORLD, dataset, event

MINUTE = 60_000
Step = tuple[str | None, int, dict[str, Any]]
CERTIFIED = str(uuid.uuid4())
ALTERED = {**facet_of(replace(draft(0), run_id=CERTIFIED).sealed()), "contractVersion": "changed"}


def error(message: str) -> dict[str, Any]:
    return {"errorMessage": {**FACET, "message": message, "programmingLanguage": "python"}}


def ledger(**members: Any) -> dict[str, Any]:
    counts = {"inputRecordCount": 10, "processedCount": 10, "filteredCount": 0, "erroredCount": 0}
    facet = {**FACET, **counts, **members}
    return {"cdme_accountingLedger": {name: value for name, value in facet.items() if value is not None}}


@dataclass(frozen=True)
class Outcome:
    """The events of a run (type, minute and members), and the expected columns of its row."""

    events: list[Step]
    expected: dict[str, Any]
    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))


START: Step = ("START", 1, {})
COMPLETE: Step = ("COMPLETE", 3, {})
STREAMING = {"job": {"jobType": {**FACET, "processingType": "STREAMING", "integration": "FLINK"}}}

OUTCOMES: dict[str, Outcome] = {
    "start_and_complete": Outcome(
        [START, COMPLETE], {"state": "COMPLETED", "successful": True, "duration_ms": 2 * MINUTE, "event_count": 2}
    ),
    "start_and_fail": Outcome(
        [START, ("FAIL", 2, {"run": error("first")}), ("FAIL", 3, {"run": error("last")})],
        {"state": "FAILED", "successful": False, "duration_ms": MINUTE, "message": "last"},
    ),
    "start_and_abort": Outcome([START, ("ABORT", 2, {})], {"state": "ABORTED", "successful": False}),
    "complete_without_start": Outcome(
        [COMPLETE], {"state": "COMPLETED", "successful": True, "started_at": None, "duration_ms": None}
    ),
    "start_without_end": Outcome([START], {"state": "RUNNING", "ended_at": None, "is_overdue": True}),
    "late_end": Outcome(
        [START, ("COMPLETE", 59, {})], {"state": "COMPLETED", "duration_ms": 58 * MINUTE, "is_overdue": None}
    ),
    "only_other": Outcome([("OTHER", 1, {}), (None, 2, {})], {"state": "NEW", "started_at": None, "event_count": 2}),
    "only_running": Outcome([("RUNNING", 1, {})], {"state": "RUNNING", "started_at": None}),
    "start_twice": Outcome([START, ("START", 2, {}), COMPLETE], {"state": "COMPLETED", "duration_ms": 2 * MINUTE}),
    "end_twice": Outcome([START, COMPLETE, ("COMPLETE", 4, {})], {"duration_ms": 2 * MINUTE}),
    "two_ends": Outcome(
        [START, COMPLETE, ("FAIL", 5, {})],
        {"state": "FAILED", "duration_ms": 4 * MINUTE, "has_conflicting_ends": True, "successful": False},
    ),
    "after_the_end": Outcome(
        [START, COMPLETE, *((kind, 9, {"outputs": [dataset(WORLD, kind)]}) for kind in ("RUNNING", "OTHER", "START"))],
        {"state": "COMPLETED", "duration_ms": 2 * MINUTE, "output_names": ["OTHER", "RUNNING", "START"]},
    ),
    "end_before_start": Outcome(
        [("START", 5, {}), COMPLETE], {"state": "COMPLETED", "duration_ms": None, "clock_skew_ms": 2 * MINUTE}
    ),
    "unbalanced_ledger": Outcome(
        [START, ("COMPLETE", 3, {"run": ledger(processedCount=7, erroredCount=1)})],
        {"state": "COMPLETED", "successful": False, "ledger_verdict": "unbalanced", "ledger_difference": 2},
    ),
    "misdeclared_ledger": Outcome(
        [START, ("COMPLETE", 3, {"run": ledger(balanced=False)})],
        {"successful": False, "ledger_verdict": "misdeclared", "ledger_difference": 0},
    ),
    "incomplete_ledger": Outcome(
        [START, ("COMPLETE", 3, {"run": ledger(processedCount=None)})],
        {"successful": False, "ledger_verdict": "incomplete", "ledger_difference": None},
    ),
    "altered_certificate": Outcome(
        [START, ("COMPLETE", 3, {"run": {"cdme_fidelityCertificate": ALTERED}})],
        {"state": "COMPLETED", "certificate_verdict": "altered"},
        CERTIFIED,
    ),
    "streaming_job": Outcome(
        [("START", 1, STREAMING), ("RUNNING", 2, {})], {"state": "RUNNING", "ended_at": None, "is_overdue": False}
    ),
    "two_jobs": Outcome(
        [START, ("COMPLETE", 3, {"name": "another"})], {"job_name": "another", "job_names": ["another", "two_jobs"]}
    ),
    "same_event_again": Outcome([START, START, COMPLETE], {"event_count": 2, "copies": 3, "duration_ms": 2 * MINUTE}),
    "more_facets": Outcome(
        [START, ("START", 1, {"run": error("known later")}), COMPLETE], {"event_count": 3, "message": "known later"}
    ),
}


@pytest.fixture(scope="module")
def found(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """The rows of all runs, from two shuffled batches: events arrive in any order."""
    values = [
        event(outcome.run_id, kind, minute, members.get("name", name), **members)
        for name, outcome in OUTCOMES.items()
        for kind, minute, members in outcome.events
    ]
    Random(5).shuffle(values)
    root = str(tmp_path_factory.mktemp("outcomes"))
    curated(spark, root, [values[: len(values) // 2], values[len(values) // 2 :]])
    query = """
        SELECT runs.*, error.message AS message, open_runs.is_overdue,
            list_transform(outputs, lambda output: output.name) AS output_names,
            list_transform(jobs, lambda job: job.name) AS job_names,
            (SELECT sum(copies)::INT FROM event_copies WHERE event_copies.run_id = runs.run_id) AS copies
        FROM runs LEFT JOIN open_runs ON open_runs.run_id = runs.run_id
    """
    answer = Tables(root).query(query)
    rows = {row[0]: dict(zip(answer.columns, row, strict=True)) for row in answer.rows}
    return rows.__getitem__


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcome(found: Callable[[str], dict[str, Any]], name: str) -> None:
    row = found(OUTCOMES[name].run_id)
    assert {key: row[key] for key in OUTCOMES[name].expected} == OUTCOMES[name].expected


def test_every_line_of_the_page_has_its_test() -> None:
    page = (Path(__file__).parents[3] / "docs" / "runs.md").read_text()
    assert re.findall(r"\| `(\w+)` \|$", page, re.MULTILINE) == list(OUTCOMES)
