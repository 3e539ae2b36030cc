"""Maintenance of tables: what each task does, what it leaves alone, and what it reports."""

import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from lineproof.local.maintenance import maintenance_task
from lineproof.schemas.table_format import FORMAT_PROPERTY
from lineproof.settings import Settings
from lineproof.streaming.delta.definition import Definition, create_table
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.tables import archive, jobs, lineage_events, records, runs
from lineproof.streaming.upkeep.maintenance import Maintenance
from lineproof.streaming.upkeep.maintenance_task import LAST_RUNS, LastRuns
from tests.quality.test_quality_task import wait_until

NOW = datetime.now(timezone.utc)
FIRST_DAY = NOW.date() - timedelta(days=395)
MIDNIGHT = datetime(FIRST_DAY.year, FIRST_DAY.month, FIRST_DAY.day, tzinfo=timezone.utc)
JUST_OLD = MIDNIGHT - timedelta(microseconds=1)
DAYS = Settings().retention.days()


def maintenance(spark: SparkSession, store: TableReader, keep_hours: int = 168, **more: Any) -> Maintenance:
    root = Path(store.path(archive.TABLE)).parent
    return Maintenance(spark, str(root), f"{root}-checkpoints", DAYS, timedelta(hours=keep_hours), **more)


def add(writer: BatchWriter, spark: SparkSession, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Append rows as one file; columns that are not given are null."""
    whole = [tuple(row.get(name) for name in table.columns) for row in rows]
    writer.append(table, spark.createDataFrame(whole, table.struct).coalesce(1))


def record(number: int, **more: Any) -> dict[str, Any]:
    return {"topic": "t", "partition": 0, "offset": number, "timestamp": NOW, "event_id": f"e{number}", **more}


def live(store: TableReader, table: Table) -> list[Path]:
    return [Path(uri.removeprefix("file://")) for uri in DeltaTable(store.path(table)).file_uris()]


def test_files_are_compacted_and_vacuumed_and_the_reported_figures_are_right(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tests/faults/test_file_counts.py does the same with 500 batches."""
    monkeypatch.setattr("lineproof.streaming.upkeep.maintenance.FEW_FILES", 2)
    store = TableReader(spark, str(tmp_path / "tables"))
    tables, count = (archive.TABLE, records.TABLE), 4
    for table in tables:
        create_table(spark, store.path(table), table)

    def batches(numbers: range) -> None:
        for number in numbers:
            writing = BatchWriter(spark, str(tmp_path / "tables"), "tests", number)
            add(writing, spark, archive.TABLE, [record(number, day=date(2026, 1, 1 + number % 2))])
            add(writing, spark, records.TABLE, [record(number)])

    def versions() -> list[int]:
        return [int(DeltaTable(store.path(table)).version()) for table in tables]

    batches(range(count))
    before = versions()
    dry = maintenance(spark, store, is_dry=True).run(("compact", "cluster"))
    assert versions() == before, "a dry run does nothing"
    assert {result.table: list(result.done) for result in dry} == {
        "archive": [f"{count} files would be compacted"],
        "records": [f"{count} files would be compacted", "would be clustered by event_id, run_id"],
    }

    done = {result.table: result for result in maintenance(spark, store).run(("compact", "vacuum"))}
    assert [len(live(store, table)) for table in tables] == [2, 1], "one per day, and one"
    assert done["archive"].done == [f"{count} files rewritten as 2"]
    assert (done["archive"].before.files, done["archive"].after.files) == (count, 2)
    assert done["archive"].after.bytes == sum(file.stat().st_size for file in live(store, archive.TABLE))
    assert done["archive"].after.bytes_on_disk == on_disk(store, archive.TABLE)
    assert len(list(Path(store.path(records.TABLE)).glob("*.parquet"))) == count + 1, "old files are kept for readers"

    batches(range(count, 2 * count))
    freed = maintenance(spark, store, keep_hours=0).run(("compact", "vacuum"), ["records"])
    assert [(result.table, result.before.files, result.after.files) for result in freed] == [("records", count + 1, 1)]
    assert [*Path(store.path(records.TABLE)).glob("*.parquet")] == live(store, records.TABLE)
    assert freed[0].after.bytes_on_disk == on_disk(store, records.TABLE) < freed[0].before.bytes_on_disk
    assert freed[0].done == [f"{count + 1} files rewritten as 1", f"{2 * count + 1} files removed"]
    assert sorted(row.offset for row in store.read(records.TABLE).collect()) == list(range(2 * count))


def test_a_table_on_another_disk_is_maintained_there(spark: SparkSession, tmp_path: Path) -> None:
    """The table's directory is a symbolic link, which Hadoop lists under the name of the link."""
    elsewhere = tmp_path / "disk" / "records"
    create_table(spark, TableReader(spark, str(elsewhere.parent)).path(records.TABLE), records.TABLE)
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "records").symlink_to(elsewhere)
    for number in range(2):
        add(BatchWriter(spark, str(tmp_path / "tables"), "tests", number), spark, records.TABLE, [record(number)])
    store = TableReader(spark, str(tmp_path / "tables"))
    root = str(tmp_path / "tables")
    [done] = Maintenance(spark, root, f"{root}-checkpoints", DAYS, timedelta(0)).run(("cluster", "vacuum"), ["records"])
    assert done.done[-1] == "2 files removed"
    assert [file.name for file in elsewhere.glob("*.parquet")] == [file.name for file in live(store, records.TABLE)]


def on_disk(store: TableReader, table: Table) -> int:
    """The bytes of all files, without the checksum files that Hadoop writes on a local disk."""
    files = [file for file in Path(store.path(table)).rglob("*") if file.is_file() and not file.name.startswith(".")]
    return sum(file.stat().st_size for file in files)


def test_exactly_the_expired_rows_are_deleted(spark: SparkSession, tmp_path: Path) -> None:
    """By event time, in whole UTC days; runs by their last event. The records of the archive and the jobs are kept."""
    store = BatchWriter(spark, str(tmp_path / "tables"), "tests", 0)
    times = {"old": JUST_OLD, "young": MIDNIGHT, "new": NOW, "unknown": None}
    run = {"state": "COMPLETED", "first_event_at": JUST_OLD}
    filled = (
        (lineage_events.TABLE, [{"event_id": name, "kind": "RUN", "event_time": at} for name, at in times.items()]),
        (runs.TABLE, [{"run_id": name, **run, "last_event_at": at} for name, at in times.items()]),
        (records.TABLE, [record(n, event_id=name, timestamp=at) for n, (name, at) in enumerate(times.items())]),
        (jobs.TABLE, [{"namespace": "n", "name": name, "last_seen_at": at} for name, at in times.items()]),
    )
    for table, rows in filled:
        create_table(spark, store.path(table), table)
        add(store, spark, table, rows)
    dry = maintenance(spark, store, is_dry=True).run(("retain",))
    done = maintenance(spark, store).run(("retain",))
    assert {result.table: list(result.done) for result in dry if result.done} == {
        name: [f"1 rows from before {FIRST_DAY} would be deleted"] for name in ("lineage_events", "runs")
    }
    assert {result.table: list(result.done) for result in done if result.done} == {
        name: [f"1 rows from before {FIRST_DAY} deleted"] for name in ("lineage_events", "runs")
    }
    assert {row.event_id for row in store.read(lineage_events.TABLE).collect()} == {"young", "new", "unknown"}
    assert {row.run_id for row in store.read(runs.TABLE).collect()} == {"young", "new", "unknown"}
    assert store.read(records.TABLE).count() == store.read(jobs.TABLE).count() == len(times)


def test_records_are_deleted_with_their_rows_of_the_archive(spark: SparkSession, tmp_path: Path) -> None:
    """By the day of archiving: the timestamp is the choice of the producer."""
    store = BatchWriter(spark, str(tmp_path / "tables"), "tests", 0)
    days = [FIRST_DAY - timedelta(days=1)] * 2 + [FIRST_DAY, NOW.date()]
    rows = [
        record(number, partition=partition, day=day, timestamp=JUST_OLD if number % 2 else NOW + timedelta(days=9999))
        for partition, some in enumerate((days, days[:2], days[2:]))
        for number, day in enumerate(some)
    ]
    for table in (archive.TABLE, records.TABLE):
        create_table(spark, store.path(table), table)
        add(store, spark, table, rows)
    keeping = {**DAYS, "archive": 395}
    root = str(tmp_path / "tables")
    done = Maintenance(spark, root, f"{root}-checkpoints", keeping, timedelta(0)).run(("retain",))
    assert {result.table: list(result.done) for result in done} == {
        name: [f"4 rows from before {FIRST_DAY} deleted"] for name in ("archive", "records")
    }
    kept = {(row.partition, row.offset) for row in store.read(records.TABLE).collect()}
    assert kept == {(row.partition, row.offset) for row in store.read(archive.TABLE).collect()}
    assert kept == {(0, 2), (0, 3), (2, 0), (2, 1)}


def test_the_running_job_maintains_its_tables_and_retries_after_a_failure(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(home=tmp_path, maintenance={"compact_every": "1ms", "full_every": ""})
    store = TableReader(spark, settings.tables_path)
    create_table(spark, store.path(jobs.TABLE), jobs.TABLE)
    definition = Definition(spark, store.path(jobs.TABLE), jobs.TABLE)
    definition.set({FORMAT_PROPERTY: "99"})
    with maintenance_task(spark, settings) as task:
        task.start()
        wait_until(lambda: "Maintenance failed and will be retried" in caplog.text)
        definition.set({FORMAT_PROPERTY: "1"})
        printed: list[str] = []

        def has_run() -> bool:
            printed.append(capfd.readouterr().err)
            return "maintenance: 0 files, now 0, in" in "".join(printed)

        wait_until(has_run)
    known = json.loads((Path(settings.checkpoints_path) / LAST_RUNS).read_text())
    assert known["compact"] > known["all"], "the next start knows that a full run has not happened yet"
    assert LastRuns(spark, settings.checkpoints_path).read() == known
