"""Runs: their trust, filters, and the page of one."""

from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import randrange
from typing import get_args

import pytest

from lineproof.serving.answers.model import Trust
from lineproof.serving.answers.paging import Paging
from lineproof.serving.answers.run import Run, run
from lineproof.serving.answers.run_facets import run_events, run_facets
from lineproof.serving.answers.runs import RunFilter, RunSummary, runs
from lineproof.serving.open_tables import OpenTables, TableSet
from tests.streaming.story import CLEAN, FAILED, LATE, LOAD, REPORT, STREAM, WORLD
from tests.tables import make_tables
from tests.unit.serving.answers.world import (
    ABORTED,
    ALTERED,
    AT,
    CHILD,
    GAP,
    HOSTILE,
    RESOLVED,
    UNBALANCED,
    UNKNOWN_ALGORITHM,
    UNPROVEN,
    WITHOUT_START,
    random_runs,
    run_row,
)

ALL = Paging(limit=1000)


def by_id(tables: TableSet) -> dict[str, RunSummary]:
    return {one.run_id: one for one in runs(tables, RunFilter(), ALL).items}


def the_run(tables: TableSet, run_id: str) -> Run:
    found = run(tables, run_id)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("run_id", "trust", "reason"),
    [
        (REPORT, "proven", "the ledger balances"),
        (RESOLVED, "proven", "the ledger balances"),
        (UNBALANCED, "broken", "ledger: unbalanced, difference 25"),
        (ALTERED, "broken", "certificate: altered"),
        (FAILED, "broken", "the run failed"),
        (UNKNOWN_ALGORITHM, "unknown", "certificate: unknown algorithm"),
        (GAP, "unknown", "certificate: gap"),
        (LOAD, "unknown", "nothing proves it: no ledger and no certificate"),
        (ABORTED, "unknown", "the run was aborted"),
        (WITHOUT_START, "unknown", "no START has arrived"),
        (LATE, "unknown", "overdue: no end has arrived"),
        (STREAM, "running", "the run has not ended"),
    ],
)
def test_trust(tables: TableSet, run_id: str, trust: str, reason: str) -> None:
    summary = by_id(tables)[run_id]
    assert (summary.trust, summary.reason) == (trust, reason)
    of_page = the_run(tables, run_id)
    assert (of_page.trust, of_page.reason) == (trust, reason)


def test_filters_by_trust_agree_with_the_trust_of_each_run(tables: TableSet, tmp_path: Path) -> None:
    seed = randrange(2**32)
    print(f"seed {seed}")
    make_tables(tmp_path / "tables", {"runs": random_runs(seed, 300)})
    for of in (tables, OpenTables(str(tmp_path / "tables")).now()):
        whole = runs(of, RunFilter(), ALL).items
        for trust in get_args(Trust):
            assert runs(of, RunFilter(trust=trust), ALL).items == [one for one in whole if one.trust == trust], trust


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (RunFilter(WORLD, "load"), {LOAD, FAILED}),
        (RunFilter(state="ABORTED"), {ABORTED}),
        (RunFilter(verdict="unbalanced"), {UNBALANCED}),
        (RunFilter(verdict="altered"), {ALTERED}),
        (RunFilter("faults", until=AT + timedelta(minutes=1)), {UNBALANCED}),
        (RunFilter("faults", since=AT + timedelta(minutes=8)), {GAP}),
        (RunFilter(q="CLEA"), {CLEAN}),
        (RunFilter(q="11111111-0000-0000-0000-000000000000"), {UNBALANCED}),
        (RunFilter(q="100%_"), {"00000000-0000-0000-0000-0000000003f3"}),
        (RunFilter(name="no such job"), set()),
    ],
)
def test_filters(tables: TableSet, wanted: RunFilter, expected: set[str]) -> None:
    assert {one.run_id for one in runs(tables, wanted, ALL).items} == expected


def test_runs_of_hostile_jobs(tables: TableSet) -> None:
    for name in HOSTILE:
        [found] = runs(tables, RunFilter(name, name), ALL).items
        assert (found.job.namespace, found.job.name) == (name, name)


def test_a_run_becomes_overdue_with_time(tmp_path: Path) -> None:
    now = datetime.now(timezone.utc)
    usual = [run_row(f"usual {n}", 0, duration_ms=100_000) for n in range(3)]
    started = [("soon", now - timedelta(seconds=290)), ("late", now - timedelta(seconds=310))]
    still = [run_row(name, 0, "RUNNING") | {"started_at": at, "first_event_at": at} for name, at in started]
    make_tables(tmp_path / "tables", {"runs": [*usual, *still]})
    found = by_id(OpenTables(str(tmp_path / "tables")).now())
    assert (found["soon"].is_overdue, found["late"].is_overdue) == (False, True)


def test_the_page_of_a_run(tables: TableSet) -> None:
    found = the_run(tables, REPORT)
    assert [(one.event_type, one.copies, one.late_ms, one.says) for one in found.timeline] == [
        ("START", 1, 0, "input clean"),
        ("COMPLETE", 1, 0, "outputs report, orders; ledger; certificate"),
    ]
    assert found.is_timeline_complete
    assert (found.intent.documentation, found.logic.sql) == ("Adds up the orders", "SUM")
    assert found.proof.ledger
    assert (found.proof.ledger.verdict, found.proof.ledger.input_count) == ("balanced", 8)
    assert (found.proof.rows_read, found.proof.rows_written) == (7, 2)
    [read] = found.proof.reconciliation
    # `clean` is written by its place in the lake, and read by its name.
    assert (read.namespace, read.name, read.rows_read, read.rows_written_before) == (WORLD, "clean", 7, 8)
    assert (read.difference, read.written_by_run) == (-1, CLEAN)


def test_the_page_has_the_certificates_with_their_links(tables: TableSet) -> None:
    [altered] = the_run(tables, ALTERED).proof.certificates
    assert (altered.verdict, altered.chain_hash != altered.computed_hash) == ("altered", True)
    [gap] = the_run(tables, GAP).proof.certificates
    assert gap.verdict == "gap"


def test_parent_children_and_emitters(tables: TableSet) -> None:
    parent, child = the_run(tables, UNPROVEN), the_run(tables, CHILD)
    assert [one.run_id for one in parent.children] == [CHILD]
    assert child.parent
    assert (child.parent.run_id, child.parent.job and child.parent.job.name) == (UNPROVEN, "job")
    [emitter] = parent.proof.emitters
    assert (emitter.emitter_id, emitter.first_sequence, emitter.last_sequence, emitter.missing) == (
        "emitter-1",
        0,
        3,
        2,
    )


def test_counts_beyond_what_javascript_can_hold_are_text(tables: TableSet) -> None:
    found = the_run(tables, RESOLVED)
    assert f'"input_count":"{2**60}"' in found.model_dump_json()
    assert '"rows_read":7' in the_run(tables, REPORT).model_dump_json()


def test_facets_are_merged_by_the_latest_event(tables: TableSet) -> None:
    facets = run_facets(tables, REPORT)
    assert facets
    assert set(facets.run) == {"cdme_accountingLedger", "cdme_fidelityCertificate"}
    assert facets.job["sql"]["query"] == "SUM"
    assert [(one.name, "inputStatistics" in one.facets) for one in facets.inputs] == [("clean", True)]
    assert {one.name for one in facets.outputs} == {"report", "orders"}


def test_events_are_unchanged(tables: TableSet) -> None:
    events = run_events(tables, REPORT, ALL)
    assert events
    assert [one.event_type for one in events.items] == ["START", "COMPLETE"]
    assert '"eventType": "START"' in events.items[0].event


def test_what_there_is_not(tables: TableSet, empty: TableSet) -> None:
    for of in (tables, empty):
        assert run(of, "no such run") is None
        assert run_facets(of, "no such run") is None
        assert run_events(of, "no such run", ALL) is None
