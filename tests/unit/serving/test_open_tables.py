"""Tables that stay open: newest and earlier states, bounds, and what a query may read."""

import os
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from lineproof.schemas.tables import TABLES
from lineproof.schemas.views import VIEWS
from lineproof.serving import open_tables
from lineproof.serving.delta_reader import UnreadableTable
from lineproof.serving.open_tables import Known, OpenTables, QueryTimeout, UnknownVersion, tables_in
from lineproof.serving.sql import QueryError, Tables
from tests.streaming.story import CLEAN, LOAD, story
from tests.tables import make_tables, tables_of

STORY_AT = datetime(2026, 1, 31, 10, tzinfo=timezone.utc)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request looks for newer versions."""
    monkeypatch.setattr(open_tables, "CHECK_EVERY_S", -1.0)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tables_of(tmp_path / "tables", story())


def committed_at(table: Path, version: int, at: datetime) -> None:
    """Set the time of a commit, which Delta takes from the file of the commit."""
    os.utime(table / "_delta_log" / f"{version:020}.json", (at.timestamp(), at.timestamp()))


def test_the_same_answers_as_lineproof_sql(directory: Path) -> None:
    tables, sql = OpenTables(str(directory)).now(), Tables(str(directory))
    for name in (*(table.name for table in TABLES), *(set(VIEWS) - {"open_runs", "dataset_freshness"})):
        query = f"SELECT * FROM {name} ORDER BY ALL"
        assert tables.query(query) == sql.query(query), name
    upstream = "SELECT * FROM lineage_upstream('world', 'report') ORDER BY ALL"
    assert tables.query(upstream) == sql.query(upstream)


@pytest.mark.usefixtures("at_once")
def test_new_commits_are_seen_and_unchanged_tables_stay_open(directory: Path) -> None:
    tables = OpenTables(str(directory))
    before = tables.now()
    assert tables.now() is before
    assert before.scalar("SELECT count(*) FROM quarantine") == 0
    make_tables(directory, {"quarantine": [{"query": "curate", "error": "one"}]}, mode="append")
    after = tables.now()
    assert after.scalar("SELECT count(*) FROM quarantine") == 1
    assert after.etag != before.etag
    changed = {name for name in after.snapshots if after.snapshots[name] is not before.snapshots[name]}
    assert changed == {"quarantine"}
    assert before.scalar("SELECT count(*) FROM quarantine") == 0


@pytest.mark.usefixtures("at_once")
def test_a_time_to_come_is_now_and_stays_now(directory: Path) -> None:
    tables = OpenTables(str(directory))
    assert tables.as_of("2999-01-01").scalar("SELECT count(*) FROM quarantine") == 0
    make_tables(directory, {"quarantine": [{"query": "curate"}]}, mode="append")
    assert tables.as_of("2999-01-01").scalar("SELECT count(*) FROM quarantine") == 1


@pytest.mark.usefixtures("at_once")
def test_views_follow_when_a_table_gets_a_column(directory: Path) -> None:
    tables = OpenTables(str(directory))
    assert tables.now().scalar("SELECT count(*) FROM open_runs") == 2
    added = pa.table({"run_id": ["new"], "state": ["RUNNING"], "added_later": ["x"]})
    write_deltalake(directory / "runs", added, mode="append", schema_mode="merge")
    assert tables.now().scalar("SELECT count(added_later) FROM runs") == 1
    assert tables.now().scalar("SELECT count(*) FROM open_runs") == 3


@pytest.mark.usefixtures("at_once")
def test_derived_values_are_made_again_only_when_their_tables_change(directory: Path) -> None:
    tables, made = OpenTables(str(directory)), list[int]()

    def build(of: open_tables.TableSet) -> int:
        made.append(1)
        return int(of.scalar("SELECT count(*) FROM jobs"))

    assert tables.now().derived("jobs", ("jobs",), build) == 5
    make_tables(directory, {"quarantine": [{"query": "curate"}]}, mode="append")
    assert tables.now().derived("jobs", ("jobs",), build) == 5
    assert len(made) == 1
    make_tables(directory, {"jobs": [{"namespace": "n", "name": "new"}]}, mode="append")
    assert tables.now().derived("jobs", ("jobs",), build) == 6


@pytest.mark.parametrize("make", [lambda path: None, Path.mkdir], ids=["no directory", "no tables"])
def test_without_tables_a_query_has_no_rows(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "tables")
    tables = OpenTables(str(tmp_path / "tables")).now()
    assert tables.is_empty
    assert tables.rows("SELECT * FROM runs") == []
    assert tables.row("SELECT * FROM violations") is None
    assert tables.scalar("SELECT count(*) FROM runs") == 0
    assert OpenTables(str(tmp_path / "tables")).as_of("2026-01-31").is_empty


def test_a_slow_query_is_interrupted_and_others_go_on(directory: Path) -> None:
    tables = OpenTables(str(directory), timeout_s=0.5).now()
    with pytest.raises(QueryTimeout, match=r"longer than 0\.5 s"):
        tables.query("SELECT sum(a.range * b.range) FROM range(10000000) AS a, range(10000000) AS b")
    assert tables.scalar("SELECT count(*) FROM runs") == 6


def test_a_query_whose_time_is_over_before_it_begins_is_interrupted(directory: Path) -> None:
    tables = OpenTables(str(directory), timeout_s=0.2).now()
    lock = tables._database._lock
    release = threading.Timer(0.5, lock.release)
    lock.acquire()
    release.start()
    with pytest.raises(QueryTimeout):
        tables.query("SELECT sum(a.range * b.range) FROM range(10000000) AS a, range(10000000) AS b")
    release.join()


def test_many_threads(directory: Path) -> None:
    tables, found = OpenTables(str(directory)), list[object]()
    queries = ["SELECT count(*) FROM runs", "SELECT count(*) FROM violations", "SELECT count(*) FROM job_edges"]

    def ask(number: int) -> None:
        found.append((number % 3, tables.now().scalar(queries[number % 3])))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 24
    assert set(found) == {(0, 6), (1, 1), (2, 7)}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM '/etc/hostname'",
        "COPY (SELECT 1) TO '{elsewhere}/copy.csv'",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "ATTACH '{elsewhere}/other.db'",
        "INSTALL httpfs",
    ],
)
def test_nothing_but_the_tables_can_be_read(sql: str, directory: Path, tmp_path: Path) -> None:
    with pytest.raises(QueryError):
        OpenTables(str(directory)).now().query(sql.format(elsewhere=tmp_path))
    assert list(tmp_path.iterdir()) == [directory]


def test_a_query_names_tables_through_views() -> None:
    assert tables_in("SELECT * FROM ledger_checks") == {"runs"}
    assert {"job_io", "runs", "dataset_nodes"} <= tables_in("select * from LINEAGE_UPSTREAM('a', 'b')")


def test_the_tables_as_they_were(directory: Path) -> None:
    """While the files are there, `as_of` is Delta's time travel, also by version."""
    yesterday = datetime.now(timezone.utc) - timedelta(days=1)
    for table in TABLES:
        committed_at(directory / table.name, 0, yesterday)
    make_tables(directory, {"jobs": [{"namespace": "n", "name": "new"}]}, mode="append")
    tables = OpenTables(str(directory))
    hour_ago = (yesterday + timedelta(hours=23)).isoformat()
    earlier = tables.as_of(hour_ago)
    assert earlier.known.how == "version"
    assert earlier.known.oldest_at is not None
    assert abs(earlier.known.oldest_at - yesterday) < timedelta(seconds=1)
    assert (earlier.scalar("SELECT count(*) FROM jobs"), tables.now().scalar("SELECT count(*) FROM jobs")) == (5, 6)
    assert tables.as_of("0").scalar("SELECT count(*) FROM jobs") == 5
    assert tables.as_of(hour_ago) is earlier
    assert tables.as_of((yesterday - timedelta(days=1)).isoformat()).is_empty
    assert tables.as_of("2999-01-01").known == Known("now")


def test_where_files_are_gone_the_times_in_events_count(directory: Path) -> None:
    for table in TABLES:
        make_tables(directory, {table.name: [{}]}, mode="append")
        committed_at(directory / table.name, 0, STORY_AT - timedelta(days=1))
        first = DeltaTable(directory / table.name, version=0).file_uris()
        DeltaTable(directory / table.name).optimize.compact()
        for file in first:
            Path(file).unlink()
    tables = OpenTables(str(directory)).as_of("2026-01-31T10:02:30Z")
    assert tables.known.how == "event time"
    assert tables.known.oldest_at is not None
    found = {row["run_id"]: row for row in tables.rows("SELECT run_id, state, ended_at, successful FROM runs")}
    assert found.keys() == {LOAD, CLEAN}
    assert (found[LOAD]["state"], found[LOAD]["successful"]) == ("COMPLETED", True)
    assert (found[CLEAN]["state"], found[CLEAN]["ended_at"], found[CLEAN]["successful"]) == ("RUNNING", None, False)
    assert tables.scalar("SELECT count(*) FROM lineage_events") == 3
    assert tables.scalar("SELECT count(*) FROM quality_results") == 2
    written = "SELECT DISTINCT name FROM job_io_datasets WHERE direction = 'OUTPUT' ORDER BY name"
    assert [row["name"] for row in tables.rows(written)] == ["clean", "orders"]
    assert tables.rows("SELECT * FROM lineage_upstream('world', 'report')") == []


@pytest.mark.parametrize("asked", ["yesterday", "99", "9" * 18, "2026-13-01", "2026-01-31T10:00:00+99:00", "'"])
def test_what_is_neither_a_time_nor_a_version_is_refused(asked: str, directory: Path) -> None:
    with pytest.raises(UnknownVersion):
        OpenTables(str(directory)).as_of(asked)


def test_tables_elsewhere_are_refused_when_they_are_asked_for() -> None:
    tables = OpenTables("s3a://bucket/tables")
    with pytest.raises(UnreadableTable, match="not on this machine"):
        tables.now()
    with pytest.raises(UnreadableTable, match="not on this machine"):
        tables.as_of("0")
