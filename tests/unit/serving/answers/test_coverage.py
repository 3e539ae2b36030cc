"""Coverage: never 100 % of a whole that nobody knows."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from lineproof.serving.answers.coverage import Coverage, coverage
from lineproof.serving.answers.coverage_counts import Counted
from lineproof.serving.answers.installation import CriticalPipeline, Installation
from lineproof.serving.answers.overview import overview
from lineproof.serving.open_tables import OpenTables, TableSet
from tests.heartbeat import beat
from tests.tables import make_tables
from tests.unit.serving.answers.world import HOSTILE

NOW = datetime.now(timezone.utc)
HOUR = timedelta(hours=1)
LIST = (
    CriticalPipeline("ns", "seen", 7200),
    CriticalPipeline("ns", "too old", 7200),
    CriticalPipeline("ns", "never", 7200),
    *(CriticalPipeline(name, name, 7200) for name in HOSTILE),
)


@pytest.fixture
def up(tmp_path: Path) -> Installation:
    """The job runs and has read everything."""
    return Installation("1.0", beat(tmp_path / "checkpoints"), LIST, "list.yaml")


def written(directory: Path, **rows: list[dict[str, Any]]) -> TableSet:
    return OpenTables(str(make_tables(directory / "tables", rows))).now()


def a_run(namespace: str, name: str, age: timedelta, **more: Any) -> dict[str, Any]:
    jobs = [{"namespace": namespace, "name": name}]
    return {"run_id": name, "jobs": jobs, "last_event_at": NOW - age, "state": "RUNNING", "successful": False, **more}


def counts(found: Coverage) -> dict[str, Counted]:
    return {one.id: one for one in found.counts}


def test_pipelines_are_seen_in_their_period(tmp_path: Path, up: Installation) -> None:
    runs = [
        *(a_run("ns", "seen", HOUR), a_run("ns", "too old", 3 * HOUR), a_run("another ns", "never", HOUR)),
        *(a_run(name, name, -HOUR / 30) for name in HOSTILE),
    ]
    found = coverage(written(tmp_path, runs=runs), up)
    assert (found.seen, found.of, found.source) == (1 + len(HOSTILE), 3 + len(HOSTILE), "list.yaml")
    assert found.ratio == found.seen / len(LIST)
    assert [(one.name, one.missing_since) for one in found.missing] == [("never", None), ("too old", NOW - HOUR)]
    assert (found.unknown, found.unknown_because) == ([], None)


def test_an_event_in_the_future_does_not_cover_a_pipeline(tmp_path: Path, up: Installation) -> None:
    found = coverage(written(tmp_path, runs=[a_run("ns", "seen", -HOUR)]), up)
    assert (found.seen, found.missing[-1].missing_since) == (0, None)


@pytest.mark.parametrize("heartbeat", [{"state": "stopped"}, {"ago": 7200}])
def test_what_was_not_seen_is_unknown_while_the_job_is_behind(
    tmp_path: Path, up: Installation, heartbeat: dict[str, Any]
) -> None:
    """What was seen stays seen."""
    beat(Path(up.checkpoints), **heartbeat)
    tables = written(tmp_path, runs=[a_run("ns", "seen", HOUR)])
    found = coverage(tables, up)
    assert (found.seen, found.missing, len(found.unknown)) == (1, [], len(LIST) - 1)
    assert found.unknown_because
    tile = next(one for one in overview(tables, up).tiles if one.id == "coverage")
    assert (tile.trust, tile.value) == ("unknown", f"1 of {len(LIST)}")
    assert counts(found)["records"].ratio is None


@pytest.mark.parametrize("pipelines", [None, ()])
def test_without_a_list_there_is_no_share(tmp_path: Path, up: Installation, pipelines: Any) -> None:
    tables, up = written(tmp_path), replace(up, pipelines=pipelines)
    found = coverage(tables, up)
    assert (found.ratio, found.missing) == (None, [])
    assert "list of critical pipelines" in (found.unknown_because or "")
    tile = next(one for one in overview(tables, up).tiles if one.id == "coverage")
    assert (tile.trust, tile.value) == ("unknown", "unknown")


def records(*sequences: tuple[str | None, int | None]) -> list[dict[str, Any]]:
    return [
        {"topic": "t", "partition": 0, "offset": number, "emitter_id": emitter, "sequence": sequence, "timestamp": NOW}
        for number, (emitter, sequence) in enumerate(sequences)
    ]


def test_events_are_counted_by_the_numbers_of_emitters(tmp_path: Path, up: Installation) -> None:
    numbered = records(("a", 0), ("a", 1), ("a", 1), ("a", 4), ("b", 0))
    events = counts(coverage(written(tmp_path / "numbered", records=numbered), up))["events"]
    assert (events.covered, events.of, events.ratio) == (4, 6, 4 / 6)
    mixed = records(("a", 0), (None, None))
    events = counts(coverage(written(tmp_path / "mixed", records=mixed), up))["events"]
    assert (events.covered, events.of, events.ratio) == (1, None, None)
    assert "1 records have no number" in events.source
    events = counts(coverage(written(tmp_path / "none", records=records((None, None))), up))["events"]
    assert (events.covered, events.of) == (0, None)


def test_records_are_counted_with_those_that_were_lost(tmp_path: Path, up: Installation) -> None:
    archived = [{"topic": "t", "partition": 0, "offset": offset} for offset in (0, 1, 5)]
    lost = {"topic": "t", "partition": 0, "first_offset": 2, "last_offset": 4, "accepted_at": NOW}
    tables = written(tmp_path / "lost", archive=archived, accepted_losses=[lost])
    found = counts(coverage(tables, up))["records"]
    assert (found.covered, found.of, found.ratio) == (3, 6, 0.5)
    gone = {**lost, "first_offset": 9, "last_offset": None}
    tables = written(tmp_path / "gone", archive=archived, accepted_losses=[lost, gone])
    found = counts(coverage(tables, up))["records"]
    assert (found.covered, found.of, found.ratio) == (3, None, None)


def test_runs_and_datasets(tmp_path: Path, up: Installation) -> None:
    proofs: list[dict[str, Any]] = [
        {"ledger_verdict": "balanced", "certificate_verdict": "intact"},
        {"ledger_verdict": "unbalanced"},
        {},
        {"state": "FAILED", "ledger_verdict": "balanced"},
    ]
    runs = [a_run("ns", str(number), HOUR, **{"state": "COMPLETED", **proof}) for number, proof in enumerate(proofs)]
    tables = written(
        tmp_path,
        runs=runs,
        datasets=[
            {
                "namespace": "ns",
                "name": "all",
                "fields": [{"name": "x"}],
                "owners": [{"name": "me"}],
                "description": "d",
            },
            {"namespace": "ns", "name": "none", "fields": [], "owners": [], "description": ""},
            {"namespace": "ns", "name": "null"},
        ],
        quality_results=[
            {"result_id": str(n), "namespace": "ns", "name": name} for n, name in enumerate(["all", None])
        ],
    )
    found = {one.id: (one.covered, one.of) for one in coverage(tables, up).counts}
    assert found == {
        **{"events": (0, None), "records": (0, 0)},
        **{"runs_with_ledger": (2, 3), "balanced": (1, 2), "runs_with_certificate": (1, 3)},
        **dict.fromkeys(
            [f"datasets_with_{part}" for part in ("schema", "owner", "description", "tests")],
            (1, 3),
        ),
    }
    for one in coverage(tables, up).counts:
        assert tables.query(one.sql).rows


def test_an_empty_installation(tmp_path: Path, up: Installation) -> None:
    found = coverage(OpenTables(str(tmp_path)).now(), up)
    assert (found.seen, found.ratio, len(found.missing)) == (0, 0.0, len(LIST))
    assert {one.ratio for one in found.counts} == {None}
