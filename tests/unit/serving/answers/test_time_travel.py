"""What was known at a time, against now."""

import os
from datetime import datetime, timezone
from pathlib import Path

import pytest
from deltalake import DeltaTable

from lineproof.serving import open_tables
from lineproof.serving.answers.installation import Installation
from lineproof.serving.answers.overview import overview
from lineproof.serving.answers.time_travel import difference
from lineproof.serving.open_tables import OpenTables, TableSet
from tests.streaming.story import CLEAN, LOAD, REPORT, WORLD, story
from tests.tables import make_tables, tables_of

HOUR = "2026-01-31T{}:00:00Z"


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenTables:
    """The first events of the story at ten, all of them at twelve, as the job rewrites its rows."""
    monkeypatch.setattr(open_tables, "CHECK_EVERY_S", -1.0)
    directory = tmp_path / "tables"
    tables_of(directory, story()[:3])
    later = tables_of(tmp_path / "later", story())
    rows = {name: OpenTables(str(later)).now().rows(f"SELECT * FROM {name}") for name in ("runs", "jobs", "datasets")}
    rows |= {name: OpenTables(str(later)).now().rows(f"SELECT * FROM {name}") for name in ("job_io", "dataset_schemas")}
    make_tables(directory, rows, mode="overwrite")
    for log in directory.glob("*/_delta_log/*.json"):
        at = datetime(2026, 1, 31, 10 if int(log.stem) == 0 else 12, tzinfo=timezone.utc).timestamp()
        os.utime(log, (at, at))
    return OpenTables(str(directory))


def test_versions_are_compared(versions: OpenTables) -> None:
    found = difference(versions.as_of(HOUR.format(11)), versions.now())
    assert found.known.how == "version"
    assert {one.run_id for one in found.runs.added} >= {REPORT}
    assert found.runs.added_count == len(found.runs.added)
    changed = {one.run_id: one for one in found.runs.changed}
    assert set(changed) == {CLEAN}  # LOAD was complete already
    assert (changed[CLEAN].before.state, changed[CLEAN].after.state) == ("RUNNING", "COMPLETED")
    assert {one.name for one in found.jobs.added} == {"late", "report", "stream"}
    assert found.jobs.removed == []
    edges = {(one.source.name, one.target.name) for one in found.edges.added}
    assert ("report", "orders") in edges
    assert ("load", "orders") not in edges


def test_nothing_has_changed_since_now(versions: OpenTables) -> None:
    found = difference(versions.as_of(HOUR.format(13)), versions.now())
    counts = (found.runs.added_count, found.runs.changed_count, found.jobs.added_count, found.edges.added_count)
    assert counts == (0, 0, 0, 0)
    assert found.schemas == []


def test_before_everything(versions: OpenTables) -> None:
    found = difference(versions.as_of(HOUR.format("09")), versions.now())
    assert found.runs.added_count == versions.now().scalar("SELECT count(*) FROM runs")
    assert (found.runs.changed_count, found.schemas) == (0, [])


def test_beyond_the_files_by_event_time(versions: OpenTables, tmp_path: Path) -> None:
    for table in (tmp_path / "tables").iterdir():
        now = {Path(file).name for file in DeltaTable(table).file_uris()}
        for file in DeltaTable(table, version=0).file_uris():
            if Path(file).name not in now:
                Path(file).unlink()
    found = difference(versions.as_of("2026-01-31T10:02:30Z"), versions.now())
    assert found.known.how == "event time"
    assert [(one.run_id, one.before.state, one.after.state) for one in found.runs.changed] == [
        (CLEAN, "RUNNING", "COMPLETED")
    ]
    assert {one.run_id for one in found.runs.added} >= {REPORT}
    assert LOAD not in {one.run_id for one in found.runs.added}


def test_earlier_answers_are_about_their_time(versions: OpenTables) -> None:
    then = overview(versions.as_of(HOUR.format(11)), Installation("1.0"))
    assert then.counts["runs"] == 2
    assert then.question == "Could the lineage be trusted then?"
    assert "lag" not in {tile.id for tile in then.tiles}
    assert {LOAD, CLEAN} == {row[0] for row in versions.as_of(HOUR.format(11)).query("SELECT run_id FROM runs").rows}


def test_an_empty_installation(empty: TableSet) -> None:
    found = difference(empty, empty)
    assert (found.runs.added, found.jobs.added, found.edges.added, found.schemas) == ([], [], [], [])
    assert WORLD not in found.model_dump_json()
