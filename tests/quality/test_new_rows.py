"""Row-level expectations check only new rows; the others check all rows."""

from datetime import timedelta, timezone
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.producers.emitter import Emitter
from lineproof.quality.dataset_reader import file_paths, read_dataset, rows_in_files
from lineproof.quality.runner import Runner
from lineproof.quality.suite import load_suite
from tests.transport import Memory

SUITE = """
path: {path}
format: {file_format}
expectations:
  - expect_column_values_to_not_be_null: {{column: id}}
  - expect_column_values_to_be_unique: {{column: id}}
  - expect_table_row_count_to_equal: {{value: 4}}
"""


@pytest.mark.parametrize("file_format", ["delta", "parquet"])
def test_rows_written_since(
    spark: SparkSession, emitter: Emitter, memory: Memory, tmp_path: Path, file_format: str
) -> None:
    """An old null is not checked; uniqueness and the number of rows are checked over all rows."""
    path = f"{tmp_path}/odd name 50%/people"
    write(spark, path, [None, "a"], file_format)
    [[modified]] = spark.read.format(file_format).load(path).agg(F.max("_metadata.file_modification_time")).collect()
    since = modified.astimezone(timezone.utc) + timedelta(milliseconds=1)
    write(spark, path, ["a", "b"], file_format)
    suite = tmp_path / "people.yaml"
    suite.write_text(SUITE.format(path=path, file_format=file_format))
    [whole] = Runner(spark, emitter, str(tmp_path)).run([suite])
    assert [result.success for result in whole.results] == [False, False, True]
    [since_then] = Runner(spark, emitter, str(tmp_path), since=since).run([suite])
    assert [result.success for result in since_then.results] == [True, False, True]
    facets = memory.documents[-1]["inputs"][0]["inputFacets"]
    reported = [assertion["params"].get("since") for assertion in facets["dataQualityAssertions"]["assertions"]]
    assert reported == [since.isoformat(), None, None]
    assert "dataQualityMetrics" not in facets, "counts of some rows would be wrong for the dataset"


def test_an_incremental_runner_checks_new_files_until_an_expectation_fails(
    spark: SparkSession, emitter: Emitter, tmp_path: Path
) -> None:
    path = f"{tmp_path}/odd name 50%/people"
    suite = tmp_path / "people.yaml"
    suite.write_text(SUITE.format(path=path, file_format="delta"))
    write(spark, path, ["a", "b"])
    runner = Runner(spark, emitter, str(tmp_path), incremental=True)
    before = file_paths(read_dataset(spark, load_suite(suite), ""))
    assert [r.success for r in runner.run([suite])[0].results] == [True, True, False]
    write(spark, path, ["c", None])
    rows = read_dataset(spark, load_suite(suite), "")
    assert sorted(row.id or "" for row in rows_in_files(rows, file_paths(rows) - before).collect()) == ["", "c"]
    [second] = runner.run([suite])
    assert (second.results[0].success, second.results[0].unexpected_share) == (False, 0.5), "of the new rows"
    [third] = runner.run([suite])
    assert third.results[0].unexpected_share == 0.25, "of all rows, until it passes"
    assert [r.success for r in third.results] == [False, True, True]


def write(spark: SparkSession, path: str, ids: list[str | None], file_format: str = "delta") -> None:
    rows = spark.createDataFrame([(value,) for value in ids], "id STRING").coalesce(1)
    rows.write.format(file_format).mode("append").save(path)
