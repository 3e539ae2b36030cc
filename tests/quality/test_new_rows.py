"""Only what is new is looked at, where an expectation allows that."""

from datetime import timedelta, timezone
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.producers.emitter import Emitter
from lineproof.quality.rows import files_of, in_files, rows_of
from lineproof.quality.runner import Runner
from lineproof.quality.suite import load_suite
from tests.transport import Memory

SUITE = """
path: {path}
format: {form}
expectations:
  - expect_column_values_to_not_be_null: {{column: id}}
  - expect_column_values_to_be_unique: {{column: id}}
  - expect_table_row_count_to_equal: {{value: 4}}
"""


@pytest.mark.parametrize("form", ["delta", "parquet"])
def test_rows_written_since(spark: SparkSession, emitter: Emitter, memory: Memory, tmp_path: Path, form: str) -> None:
    """A null of long ago is not looked at; that a value is there twice, and how many rows there are, is."""
    place = f"{tmp_path}/odd name 50%/people"
    write(spark, place, [None, "a"], form)
    [[modified]] = spark.read.format(form).load(place).agg(F.max("_metadata.file_modification_time")).collect()
    since = modified.astimezone(timezone.utc) + timedelta(milliseconds=1)
    write(spark, place, ["a", "b"], form)
    suite = tmp_path / "people.yaml"
    suite.write_text(SUITE.format(path=place, form=form))
    [whole] = Runner(spark, emitter, str(tmp_path)).run([suite])
    assert [result.success for result in whole.results] == [False, False, True]
    [part] = Runner(spark, emitter, str(tmp_path), since=since).run([suite])
    assert [result.success for result in part.results] == [True, False, True]
    stated = memory.documents[-1]["inputs"][0]["inputFacets"]
    said = [one["params"].get("since") for one in stated["dataQualityAssertions"]["assertions"]]
    assert said == [since.isoformat(), None, None]
    assert "dataQualityMetrics" not in stated, "of a part, counts would be wrong"


def test_a_runner_that_remembers_looks_at_new_files_until_something_is_wrong(
    spark: SparkSession, emitter: Emitter, tmp_path: Path
) -> None:
    place = f"{tmp_path}/odd name 50%/people"
    suite = tmp_path / "people.yaml"
    suite.write_text(SUITE.format(path=place, form="delta"))
    write(spark, place, ["a", "b"])
    runner = Runner(spark, emitter, str(tmp_path), remembers=True)
    before = files_of(rows_of(spark, load_suite(suite), ""))
    assert [r.success for r in runner.run([suite])[0].results] == [True, True, False]
    write(spark, place, ["c", None])
    rows = rows_of(spark, load_suite(suite), "")
    assert sorted(row.id or "" for row in in_files(rows, files_of(rows) - before).collect()) == ["", "c"]
    [second] = runner.run([suite])
    assert (second.results[0].success, second.results[0].unexpected_share) == (False, 0.5), "of the new rows"
    [third] = runner.run([suite])
    assert third.results[0].unexpected_share == 0.25, "of all, until it is mended"
    assert [r.success for r in third.results] == [False, True, True]


def write(spark: SparkSession, place: str, ids: list[str | None], form: str = "delta") -> None:
    rows = spark.createDataFrame([(one,) for one in ids], "id STRING").coalesce(1)
    rows.write.format(form).mode("append").save(place)
