"""Tables of other releases: older tables are migrated and checked, newer ones are refused."""

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.schemas.table_format import FORMAT, FORMAT_PROPERTY, RELEASE_PROPERTY, NewerTable
from lineproof.schemas.tables import CURATE, TableContract
from lineproof.serving.sql import Tables
from lineproof.streaming.delta.definition import Definition, create_table
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.recovery import migrations
from lineproof.streaming.recovery.migrations import MIGRATIONS, IncompatibleTable, migrate
from lineproof.streaming.tables import accepted_losses, records, runs
from lineproof.streaming.tables.registry import TABLES

FORMAT_0 = Path(__file__).parents[2] / "fixtures" / "tables-format-0.tar.xz"
"""The tables of tests/streaming/story.py, written by the last release without a format number."""

THINGS = Table(
    contract=TableContract("things", ("name",), CURATE),
    comment="Things.",
    cluster_by=("name",),
    constraints={"sized": "size > 0"},
    schema=("name STRING NOT NULL", "size INT"),
)


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in MIGRATIONS] == list(range(1, FORMAT + 1))


def test_tables_of_format_0_are_migrated_and_can_be_written(
    spark: SparkSession, sound: TableReader, tmp_path: Path
) -> None:
    with tarfile.open(FORMAT_0) as archive:
        archive.extractall(tmp_path, filter="data")
    store = TableReader(spark, str(tmp_path))
    tables = [table for table in TABLES if table is not accepted_losses.TABLE]  # the job writes it at every start
    old = {table.name: store.read(table).columns for table in tables}
    old["archive"].remove("day")  # that of archiving
    assert "event_time" not in old["records"], "the migration adds it"
    for table in tables:
        assert migrate(spark, store.path(table), table) == [*MIGRATIONS]
        assert migrate(spark, store.path(table), table) == []
        kept, made = (where.read(table).select(*old[table.name]) for where in (store, sound))
        assert sorted(map(repr, kept.toJSON().collect())) == sorted(map(repr, made.toJSON().collect()))
    migrated = DeltaTable.forPath(spark, store.path(records.TABLE))
    assert migrated.detail().collect()[0].properties[f"{FORMAT_PROPERTY}.1"].endswith(MIGRATIONS[0].description)
    last = migrated.history(1).collect()[0]
    assert (last.operation, FORMAT_PROPERTY in last.operationParameters["properties"]) == ("SET TBLPROPERTIES", True)
    # The migrated table can be written like a new one.
    new = BatchWriter(spark, str(tmp_path), "tests", 7)
    new.append(records.TABLE, sound.read(records.TABLE))
    assert store.read(records.TABLE).where("event_time IS NOT NULL").count() == len(old) - 1


def test_an_interrupted_migration_is_continued(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = TableReader(spark, str(tmp_path))
    create_table(spark, store.path(THINGS), replace(THINGS, constraints={}))
    newer = replace(THINGS, schema=(*THINGS.schema, "colour STRING"))
    definition = Definition(spark, store.path(newer), newer)
    definition.set({FORMAT_PROPERTY: "0", "delta.checkpointInterval": "10"})

    def crash(definition: Definition) -> None:
        definition.add_columns()
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr(migrations, "MIGRATIONS", (replace(MIGRATIONS[0], apply=crash), *MIGRATIONS[1:]))
        with pytest.raises(KeyboardInterrupt):
            migrate(spark, store.path(newer), newer)
    assert definition.properties[FORMAT_PROPERTY] == "0"
    assert migrate(spark, store.path(newer), newer) == [*MIGRATIONS]
    found = definition.properties
    assert (found[FORMAT_PROPERTY], found["delta.checkpointInterval"]) == (str(FORMAT), "50")
    assert found["delta.constraints.sized"] == "size > 0"
    assert store.read(newer).columns == ["name", "size", "colour"]


def test_an_unknown_algorithm_has_one_name_after_format_1(
    spark: SparkSession, sound: TableReader, tmp_path: Path
) -> None:
    writer = BatchWriter(spark, str(tmp_path), "tests", 0)
    path = writer.path(runs.TABLE)
    create_table(spark, path, runs.TABLE)
    verdicts = spark.createDataFrame([("1", "foreign algorithm"), ("2", "intact")], "run STRING, verdict STRING")
    rows = sound.read(runs.TABLE).limit(1).crossJoin(verdicts)
    writer.append(runs.TABLE, rows.withColumns({"run_id": F.col("run"), "certificate_verdict": F.col("verdict")}))
    Definition(spark, path, runs.TABLE).set({FORMAT_PROPERTY: "1"})
    assert [migration.number for migration in migrate(spark, path, runs.TABLE)] == [2]
    found = {row.run_id: row.certificate_verdict for row in writer.read(runs.TABLE).collect()}
    assert found == {"1": "unknown algorithm", "2": "intact"}


def test_newer_and_foreign_tables_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    store = TableReader(spark, str(tmp_path))
    create_table(spark, store.path(runs.TABLE), runs.TABLE)
    path = store.path(runs.TABLE)
    with pytest.raises(IncompatibleTable, match=r"columns that this release does not know: ledger\.input_count, state"):
        migrate(spark, path, without(runs.TABLE, "state", "input_count: BIGINT, "))
    wider = (column.replace("event_count INT", "event_count BIGINT") for column in runs.TABLE.schema)
    with pytest.raises(IncompatibleTable, match="differs from what this release creates: the column event_count"):
        migrate(spark, path, replace(runs.TABLE, schema=tuple(wider)))
    Definition(spark, path, runs.TABLE).set({FORMAT_PROPERTY: str(FORMAT + 1), RELEASE_PROPERTY: "9.1.0"})
    refusal = (
        rf"has format {FORMAT + 1}, and lineproof .* supports formats up to {FORMAT}\.\s+Use lineproof 9\.1\.0 or newer"
    )
    with pytest.raises(NewerTable, match=refusal):
        migrate(spark, path, runs.TABLE)
    for read in (Tables(str(tmp_path)).overview, lambda: Tables(str(tmp_path)).query("SELECT * FROM runs")):
        with pytest.raises(NewerTable, match=refusal):
            read()


def without(table: Table, column: str, part: str) -> Table:
    kept = (text.replace(part, "") for text in table.schema if not text.startswith(f"{column} "))
    return replace(table, schema=tuple(kept), constraints={})
