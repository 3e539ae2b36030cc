"""Tables of other releases: an older archive is migrated and checked, other older tables and newer ones are refused."""

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from lineproof.schemas.table_format import FORMAT, FORMAT_PROPERTY, RELEASE_PROPERTY, NewerTable
from lineproof.schemas.tables import INGEST, TableContract
from lineproof.serving.sql import Tables
from lineproof.streaming.delta.definition import Definition, create_table
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.recovery import migrations
from lineproof.streaming.recovery.migrations import MIGRATIONS, IncompatibleTable, migrate
from lineproof.streaming.recovery.rebuild import rebuild, rebuild_config
from lineproof.streaming.tables import archive, runs
from lineproof.streaming.tables.registry import DERIVED

FORMAT_0 = Path(__file__).parents[2] / "fixtures" / "tables-format-0.tar.xz"
"""The tables of tests/streaming/story.py, written by the last release without a format number."""

THINGS = Table(
    contract=TableContract("things", ("name",), INGEST),
    comment="Things.",
    cluster_by=("name",),
    constraints={"sized": "size > 0"},
    schema=("name STRING NOT NULL", "size INT"),
)


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in MIGRATIONS] == list(range(1, FORMAT + 1))


def test_the_archive_of_format_0_is_migrated_and_the_other_tables_are_rebuilt_from_it(
    spark: SparkSession, sound: TableReader, tmp_path: Path
) -> None:
    with tarfile.open(FORMAT_0) as fixture:
        fixture.extractall(tmp_path, filter="data")
    store = TableReader(spark, str(tmp_path))
    path = store.path(archive.TABLE)
    assert migrate(spark, path, archive.TABLE) == [*MIGRATIONS]
    assert migrate(spark, path, archive.TABLE) == []
    migrated = DeltaTable.forPath(spark, path)
    assert migrated.detail().collect()[0].properties[f"{FORMAT_PROPERTY}.1"].endswith(MIGRATIONS[0].description)
    last = migrated.history(1).collect()[0]
    assert (last.operation, FORMAT_PROPERTY in last.operationParameters["properties"]) == ("SET TBLPROPERTIES", True)
    derived = [module.TABLE for module in DERIVED]
    refused = [table for table in derived if store.exists(table)]
    assert len(refused) >= 9
    for table in refused:
        with pytest.raises(IncompatibleTable, match=r"(?s)has format 0.*start once with --rebuild"):
            migrate(spark, store.path(table), table)
    # What the refusal says.
    config = rebuild_config(str(tmp_path), str(tmp_path / "rebuilt"), str(tmp_path / "checkpoints"), {})
    rebuild(spark, config, lambda archived: archived, lambda _batch: None, lambda: False)
    rebuilt = TableReader(spark, config.tables)
    for table in derived:
        # The archive was made when the records of tests had another timestamp.
        same = (tables.read(table).drop("timestamp") for tables in (rebuilt, sound))
        found, expected = (sorted(rows.toJSON().collect()) for rows in same)
        assert found == expected, table.name
    # The migrated archive can be written like a new one.
    BatchWriter(spark, str(tmp_path), "tests", 7).append(archive.TABLE, sound.read(archive.TABLE))
    assert store.read(archive.TABLE).count() == 2 * sound.read(archive.TABLE).count()


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
