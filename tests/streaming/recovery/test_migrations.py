"""Tables of other releases: older ones are migrated and checked, newer ones refused (R54)."""

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from lineproof.schemas.table_format import FORMAT, FORMAT_PROPERTY, RELEASE_PROPERTY, NewerTable
from lineproof.serving.sql import Tables
from lineproof.streaming.delta.definition import Definition
from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.job import TABLES
from lineproof.streaming.recovery import migrations
from lineproof.streaming.recovery.migrations import STEPS, UnknownTable, migrate
from lineproof.streaming.tables import records, runs

FORMAT_0 = Path(__file__).parents[2] / "fixtures" / "tables-format-0.tar.xz"
"""The tables of tests/streaming/story.py, as the last release without a format number wrote them."""

THINGS = Table(
    name="things",
    comment="Things.",
    key=("name",),
    cluster_by=("name",),
    constraints={"sized": "size > 0"},
    schema=("name STRING NOT NULL", "size INT"),
)


def test_steps_are_counted() -> None:
    assert [step.number for step in STEPS] == list(range(1, FORMAT + 1))


def test_tables_of_format_0_are_migrated_and_go_on(spark: SparkSession, sound: Store, tmp_path: Path) -> None:
    with tarfile.open(FORMAT_0) as archive:
        archive.extractall(tmp_path, filter="data")
    store = Store(spark, str(tmp_path))
    old = {table.name: store.read(table).columns for table in TABLES}
    assert "event_time" not in old["records"], "which is what it is to be migrated to"
    for table in TABLES:
        assert [step.number for step in migrate(spark, store.path(table), table)] == [1]
        assert migrate(spark, store.path(table), table) == []
        kept, made = (where.read(table).select(*old[table.name]) for where in (store, sound))
        assert sorted(map(repr, kept.toJSON().collect())) == sorted(map(repr, made.toJSON().collect()))
    told = DeltaTable.forPath(spark, store.path(records.TABLE))
    assert told.detail().collect()[0].properties[f"{FORMAT_PROPERTY}.1"].endswith(STEPS[0].what)
    last = told.history(1).collect()[0]
    assert (last.operation, FORMAT_PROPERTY in last.operationParameters["properties"]) == ("SET TBLPROPERTIES", True)
    # And it is written to, as one of our own.
    new = Store(spark, str(tmp_path), "tests", 7)
    new.append(records.TABLE, sound.read(records.TABLE))
    assert store.read(records.TABLE).where("event_time IS NOT NULL").count() == len(old) - 1


def test_a_migration_that_was_cut_off_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(spark, str(tmp_path))
    store.create(replace(THINGS, constraints={}))
    newer = replace(THINGS, schema=(*THINGS.schema, "colour STRING"))
    definition = Definition(spark, store.path(newer), newer)
    definition.set({FORMAT_PROPERTY: "0", "delta.checkpointInterval": "10"})

    def crash(definition: Definition) -> None:
        definition.add_columns()
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr(migrations, "STEPS", (replace(STEPS[0], apply=crash),))
        with pytest.raises(KeyboardInterrupt):
            migrate(spark, store.path(newer), newer)
    assert definition.properties[FORMAT_PROPERTY] == "0"
    assert [step.number for step in migrate(spark, store.path(newer), newer)] == [1]
    found = definition.properties
    assert (found[FORMAT_PROPERTY], found["delta.checkpointInterval"]) == ("1", "50")
    assert found["delta.constraints.sized"] == "size > 0"
    assert store.read(newer).columns == ["name", "size", "colour"]


def test_newer_and_foreign_tables_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(spark, str(tmp_path))
    store.create(runs.TABLE)
    path = store.path(runs.TABLE)
    with pytest.raises(UnknownTable, match=r"columns that this release does not know: ledger\.input_count, state"):
        migrate(spark, path, without(runs.TABLE, "state", "input_count: BIGINT, "))
    wider = (one.replace("event_count INT", "event_count BIGINT") for one in runs.TABLE.schema)
    with pytest.raises(UnknownTable, match="is not what this release makes: the column event_count"):
        migrate(spark, path, replace(runs.TABLE, schema=tuple(wider)))
    Definition(spark, path, runs.TABLE).set({FORMAT_PROPERTY: str(FORMAT + 1), RELEASE_PROPERTY: "9.1.0"})
    refusal = (
        rf"has format {FORMAT + 1}, and lineproof .* knows those up to {FORMAT}\.\s+Use lineproof 9\.1\.0 or newer"
    )
    with pytest.raises(NewerTable, match=refusal):
        migrate(spark, path, runs.TABLE)
    for ask in (Tables(str(tmp_path)).overview, lambda: Tables(str(tmp_path)).query("SELECT * FROM runs")):
        with pytest.raises(NewerTable, match=refusal):
            ask()


def without(table: Table, column: str, part: str) -> Table:
    kept = (one.replace(part, "") for one in table.schema if not one.startswith(f"{column} "))
    return replace(table, schema=tuple(kept), constraints={})
