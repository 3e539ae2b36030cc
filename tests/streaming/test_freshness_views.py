"""The views of freshness against the model, in Spark."""

import secrets
from collections.abc import Callable
from pathlib import Path
from random import Random

from pyspark.sql import SparkSession

from lineproof.streaming.delta.reader import TableReader
from tests.freshness_worlds import assert_agrees, random_world, written
from tests.streaming.curated import in_utc, run_sql


def test_random_worlds_agree_with_the_model(
    spark: SparkSession, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seed = secrets.randbits(64)
    record_property("seed of freshness", seed)
    world = random_world(Random(seed), 40)
    store = TableReader(spark, str(written(tmp_path / "tables", world)))
    [found] = run_sql(spark, store, "SELECT * FROM dataset_freshness")
    rows = [in_utc(row.asDict(recursive=True)) for row in found.collect()]
    assert_agrees({(row["namespace"], row["name"]): row for row in rows}, world)
