"""The feed of violations, and the overview over it."""

from datetime import timedelta

import pytest

from lineproof.schemas import verdicts
from lineproof.serving.answers.installation import Installation
from lineproof.serving.answers.overview import overview
from lineproof.serving.answers.paging import Paging
from lineproof.serving.answers.remedies import remedy
from lineproof.serving.answers.tiles import Tile
from lineproof.serving.answers.violations import Violation, violations
from lineproof.serving.open_tables import TableSet
from tests.unit.serving.answers.world import AT, RESOLVED, UNBALANCED

ALL = Paging(limit=1000)
INSTALLATION = Installation("1.0")


def feed(tables: TableSet) -> dict[tuple[str, str], list[Violation]]:
    found: dict[tuple[str, str], list[Violation]] = {}
    for one in violations(tables, None, "all", ALL).items:
        found.setdefault((one.kind, one.verdict), []).append(one)
    return found


def test_every_kind_is_in_the_feed_with_what_to_do(tables: TableSet) -> None:
    found = feed(tables)
    assert set(found) == {
        ("ledger", "unbalanced"),
        ("ledger", "balanced"),
        ("certificate", "altered"),
        ("certificate", "fork"),
        ("certificate", "gap"),
        ("certificate", "unknown algorithm"),
        ("quality", "failed test"),
        ("quality", "test that could not run"),
        ("quarantine", "cannot be processed"),
        ("emitter", "missing events"),
        ("archive", "missing records"),
    }
    for kind, verdict in set(found) - {("ledger", "balanced")}:
        assert all(one.remedy == remedy(kind, verdict) for one in found[kind, verdict])
        assert "docs/" not in remedy(kind, verdict)


@pytest.mark.parametrize("verdict", ["unbalanced", "misdeclared", "incomplete"])
def test_every_verdict_of_a_ledger_has_a_remedy(verdict: str) -> None:
    assert "docs/" not in remedy("ledger", verdict)


def test_every_verdict_of_a_certificate_has_a_remedy() -> None:
    for verdict in (*verdicts.HASH_VERDICTS[:-1], "gap", "fork", "reordered"):
        assert "docs/" not in remedy("certificate", verdict)


def test_when_violations_opened_and_were_resolved(tables: TableSet) -> None:
    found = feed(tables)
    [unbalanced] = found["ledger", "unbalanced"]
    assert (unbalanced.run_id, unbalanced.stands, unbalanced.opened_at) == (UNBALANCED, True, AT)
    [resolved] = found["ledger", "balanced"]
    assert (resolved.run_id, resolved.stands) == (RESOLVED, False)
    assert (resolved.opened_at, resolved.resolved_at) == (
        AT + timedelta(minutes=1, seconds=30),
        AT + timedelta(minutes=5),
    )
    mended = [one for one in found["quality", "failed test"] if one.name == "mended"]
    assert [(one.stands, one.opened_at, one.resolved_at) for one in mended] == [(False, AT, AT + timedelta(minutes=1))]
    [gap] = found["emitter", "missing events"]
    assert (gap.subject, gap.opened_at) == ("emitter-1", AT + timedelta(seconds=101))


def test_stands_and_kind_filter(tables: TableSet) -> None:
    every = violations(tables, None, "all", ALL).items
    assert violations(tables, None, "true", ALL).items == [one for one in every if one.stands]
    assert violations(tables, None, "false", ALL).items == [one for one in every if not one.stands]
    for kind in ("ledger", "certificate", "quality", "quarantine", "emitter", "archive"):
        assert violations(tables, kind, "all", ALL).items == [one for one in every if one.kind == kind]


def tile(tables: TableSet, id_: str) -> Tile:
    return next(one for one in overview(tables, INSTALLATION).tiles if one.id == id_)


def test_the_overview_counts_what_the_lists_have(tables: TableSet) -> None:
    standing = violations(tables, None, "true", ALL).items
    answer = overview(tables, INSTALLATION)
    assert (answer.trust, answer.answer) == ("broken", f"not all of it: {len(standing)} violations stand")
    assert tile(tables, "violations").value == str(len(standing))
    assert answer.counts["runs"] == tables.scalar("SELECT count(*) FROM runs")
    assert sum(one.events for one in answer.events_per_minute) > 0
    assert {change.kind for change in answer.changes} >= {"opened", "resolved", "dead letter", "defect"}
    assert [change.at for change in answer.changes] == sorted((one.at for one in answer.changes), reverse=True)


def test_every_number_has_sql_that_runs(tables: TableSet) -> None:
    for one in overview(tables, INSTALLATION).tiles:
        tables.query(one.sql)
    assert tables.scalar(tile(tables, "unknown").sql) == int(tile(tables, "unknown").value)
    assert tables.scalar(tile(tables, "dead_letters").sql) == int(tile(tables, "dead_letters").value) == 1
    assert tables.scalar(tile(tables, "defects").sql) == int(tile(tables, "defects").value)
    assert sum(row[1] for row in tables.query(tile(tables, "violations").sql).rows) == int(
        tile(tables, "violations").value
    )


def test_an_empty_installation_is_unknown_and_never_proven(empty: TableSet) -> None:
    answer = overview(empty, INSTALLATION)
    assert (answer.trust, answer.answer) == ("unknown", "nothing has arrived yet")
    assert set(answer.counts.values()) == {0}
    assert (answer.events_per_minute, answer.seen_after_p95, answer.changes) == ([], [], [])
    assert all(one.trust != "broken" for one in answer.tiles)
