"""Suites find faults in Delta tables, and their results arrive in the tables as lineage."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.producers.emitter import Emitter
from lineproof.quality.runner import Runner, dataset_name
from lineproof.quality.suite import load_suite
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.tables import job_io, quality_results, runs
from lineproof.streaming.tables.registry import TABLES
from tests.streaming.curated import curated
from tests.transport import Memory
from tests.unit.quality.test_suite import OUR_SUITES

FAULTS: dict[str, tuple[dict[str, str], str]] = {
    "archive": ({"timestamp": "NULL"}, "expect_column_values_to_not_be_null"),
    "accepted_losses": ({"first_offset": "-1"}, "expect_column_values_to_be_between"),
    "runs": ({"run_id": "''"}, "expect_column_value_lengths_to_be_between"),
    "lineage_events": (
        {"event_id": "'x'", "run_id": "'00000000-0000-0000-0000-000000000099'"},
        "the run of an event is a row of runs",
    ),
    "records": ({"offset": "999", "event_id": "'nowhere'", "reason": "NULL"}, "a record without a reason is an event"),
    "job_io": (
        {"io_id": "'x'", "inputs": "array(named_struct('namespace', 'no', 'name', 'where'))"},
        "the inputs and outputs of a combination are datasets",
    ),
    "column_lineage": ({"edge_id": "'x'", "target_name": "'nowhere'"}, "the target of a column is in a dataset"),
    "dataset_nodes": ({"name": "'nowhere'"}, "a name that leads elsewhere is that of a dataset"),
    "datasets": ({"name": "'x'", "quality_score": "7.0"}, "expect_column_values_to_be_between"),
    "jobs": ({"name": "'x'", "max_duration_ms": "-1"}, "expect_column_values_to_be_between"),
    "dataset_schemas": ({}, "expect_compound_columns_to_be_unique"),
    "certificates": ({"certificate_key": "'short'"}, "expect_column_value_lengths_to_equal"),
    "quality_results": ({"result_id": "'x'", "unexpected_share": "2.0"}, "expect_column_values_to_be_between"),
    "quarantine": (
        {"query": "'ingest'", "error": "'e'", "found_at": "current_timestamp()"},
        "expect_column_values_to_be_in_set",
    ),
    "dead_letters": ({"offset": "999", "reason": "'bad luck'"}, "expect_column_values_to_be_in_set"),
}
"""For each table: the columns of a wrong row, and the expectation that finds it."""


def root(store: TableReader) -> str:
    return str(Path(store.path(runs.TABLE)).parent)


def test_every_table_has_a_suite_that_passes_on_sound_tables(
    spark: SparkSession, sound: TableReader, emitter: Emitter
) -> None:
    suites = sorted(OUR_SUITES.glob("*.yaml"))
    assert {file.stem for file in suites} == {table.name for table in TABLES} == FAULTS.keys()
    results = Runner(spark, emitter, root(sound)).run(suites)
    failed = [
        (result.suite, result.error, [r for r in result.results if not r.success])
        for result in results
        if not result.passed
    ]
    assert not failed


def plant_fault(spark: SparkSession, store: TableReader, directory: Path, name: str) -> str:
    """Add a wrong row to a copy of one table, next to links to the others; return the expectation that finds it."""
    columns, finder = FAULTS[name]
    for table in TABLES:
        if table.name != name:
            (directory / table.name).symlink_to(store.path(table))
            continue
        shutil.copytree(store.path(table), directory / name)
        rows = store.read(table)
        values = {column: F.expr(text).cast(rows.schema[column].dataType) for column, text in columns.items()}
        row = spark.range(1).join(rows.limit(1), F.lit(True), "left")  # nulls, if the table is empty
        BatchWriter(spark, str(directory), "faults", 0).append(table, row.withColumns(values))
    return finder


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(
    spark: SparkSession, sound: TableReader, emitter: Emitter, tmp_path: Path, name: str
) -> None:
    finder = plant_fault(spark, sound, tmp_path, name)
    suite = yaml.safe_load((OUR_SUITES / f"{name}.yaml").read_text())
    suite["expectations"] = [
        {kind: arguments}
        for declared in suite["expectations"]
        for kind, arguments in declared.items()
        if finder in (kind, arguments.get("description"))
    ]
    alone = tmp_path / f"{name}.yaml"
    alone.write_text(yaml.safe_dump(suite))
    [suite_result] = Runner(spark, emitter, str(tmp_path)).run([alone])
    failed = [result for result in suite_result.results if not result.success]
    assert not any(result.error for result in failed)
    assert finder in {text for result in failed for text in (result.expectation, result.expected)}
    assert not suite_result.passed


def test_a_table_is_read_as_the_last_finished_batch_left_it(
    spark: SparkSession, sound: TableReader, emitter: Emitter, tmp_path: Path
) -> None:
    """While a batch is being written there are events without a run, which is not a fault."""
    checkpoint = tmp_path / "checkpoints" / "curate"
    for log in ("offsets", "commits"):
        (checkpoint / log).mkdir(parents=True)
        (checkpoint / log / "0").write_text("")
    plant_fault(spark, sound, tmp_path, "lineage_events")
    suite = tmp_path / "suite.yaml"
    orphans = "SELECT event_id FROM {batch} AS events LEFT ANTI JOIN runs ON runs.run_id = events.run_id"
    suite.write_text(
        "table: lineage_events\n"
        "expectations:\n"
        f"  - unexpected_rows_expectation: {{unexpected_rows_query: '{orphans}'}}\n"
    )

    def passes() -> bool:
        runner = Runner(spark, emitter, str(tmp_path), checkpoints=str(checkpoint.parent))
        return runner.run([suite])[0].passed

    assert not passes(), "between batches, it is a fault"
    (checkpoint / "offsets" / "1").write_text("")
    assert passes()


def test_results_arrive_in_the_tables_as_lineage(
    spark: SparkSession, emitter: Emitter, memory: Memory, tmp_path: Path
) -> None:
    people = [("a", "ann@example.com"), ("b", "none"), (None, "none")]
    spark.createDataFrame(people, "id STRING, mail STRING").write.format("delta").save(f"{tmp_path}/people")
    suite = tmp_path / "people.yaml"
    suite.write_text(
        f"path: {tmp_path}/people\n"
        "expectations:\n"
        "  - expect_column_values_to_not_be_null: {column: id}\n"
        "  - expect_column_values_to_be_in_set: {column: mail, value_set: [none]}\n"
        "  - expect_table_row_count_to_equal: {value: 3}\n"
    )
    [suite_result] = Runner(spark, emitter, str(tmp_path)).run([suite])
    assert [result.success for result in suite_result.results] == [False, False, True]
    assert memory.types == ["START", "COMPLETE"]
    start, complete = memory.documents
    dataset = dataset_name(load_suite(suite), "")
    assert [(tested["namespace"], tested["name"]) for tested in start["inputs"]] == [(dataset.namespace, dataset.name)]
    metrics = complete["inputs"][0]["inputFacets"]["dataQualityMetrics"]
    assert (metrics["rowCount"], metrics["columnMetrics"]["id"]["nullCount"]) == (3, 1)
    assert "ann@example.com" not in str(complete)

    values = [envelope.encode() for envelope in memory.envelopes]
    store = curated(spark, f"{tmp_path}/tables", [values, values])
    found = {row.expectation: row for row in store.read(quality_results.TABLE).collect()}
    nulls, mails, count = (
        found[f"expect_{name}"]
        for name in ("column_values_to_not_be_null", "column_values_to_be_in_set", "table_row_count_to_equal")
    )
    assert (nulls.success, nulls.unexpected_count, round(nulls.unexpected_share, 2)) == (False, 1, 0.33)
    assert (mails.suite, mails.column, len(mails.samples), mails.name) == ("people", "mail", 1, dataset.name)
    assert (count.success, count.observed, count.run_id) == (True, "3", complete["run"]["runId"])
    [run] = store.read(runs.TABLE).collect()
    assert (run.job_name, run.state) == ("quality.people", "COMPLETED")
    [combination] = store.read(job_io.TABLE).collect()
    assert ([source.name for source in combination.inputs], combination.outputs) == ([dataset.name], [])


MISTAKES: list[tuple[str, int, str]] = [
    ("table: runs\nexpectations: [\n", 3, "expected"),
    ("table: runs\nexpectations:\n  - expect_colum_to_exist: {column: x}\n", 3, "Did you mean expect_column_to_exist?"),
    ("table: runs\nexpectations:\n  - expect_column_to_exist: {row: x}\n", 3, "does not take these arguments"),
]


@pytest.mark.parametrize(("text", "line", "problem"), MISTAKES)
def test_a_wrong_suite_is_reported_and_the_others_run(
    spark: SparkSession,
    sound: TableReader,
    emitter: Emitter,
    memory: Memory,
    tmp_path: Path,
    text: str,
    line: int,
    problem: str,
) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(text)
    first, second = Runner(spark, emitter, root(sound)).run([wrong, OUR_SUITES / "jobs.yaml"])
    assert first.error.startswith(f"{wrong}:{line}: ")
    assert problem in first.error
    assert not first.passed
    assert second.passed
    assert memory.types == ["START", "COMPLETE"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "table: runs\nexpectations:\n  - expect_column_values_to_be_unique: {column: nothing}\n",
            ":3: there is no column",
        ),
        ("path: /nowhere/at/all\nexpectations:\n  - expect_column_to_exist: {column: x}\n", "cannot be read"),
    ],
)
def test_an_expectation_that_cannot_be_checked_fails_with_a_reason(
    spark: SparkSession, sound: TableReader, emitter: Emitter, memory: Memory, tmp_path: Path, text: str, message: str
) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(text)
    [suite_result] = Runner(spark, emitter, root(sound)).run([suite])
    errors: list[Any] = [suite_result.error, *(result.error for result in suite_result.results)]
    assert any(message in str(error) for error in errors)
    assert not suite_result.passed
    assert memory.types == ["START", "FAIL"]
    assert message in memory.facet("errorMessage")["message"]


def test_the_other_suites_run_if_the_files_of_a_dataset_are_missing(
    spark: SparkSession, sound: TableReader, emitter: Emitter, memory: Memory, tmp_path: Path
) -> None:
    spark.createDataFrame([("a",)], "id STRING").write.format("delta").save(f"{tmp_path}/people")
    for file in (tmp_path / "people").glob("*.parquet"):
        file.unlink()
    suite = tmp_path / "people.yaml"
    suite.write_text(f"path: {tmp_path}/people\nexpectations:\n  - expect_table_row_count_to_equal: {{value: 1}}\n")
    first, second = Runner(spark, emitter, root(sound)).run([suite, OUR_SUITES / "jobs.yaml"])
    assert not first.passed
    assert second.passed
    assert memory.types == ["START", "FAIL", "START", "COMPLETE"]
