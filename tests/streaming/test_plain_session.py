"""The session of the plain copy that benchmarks compare the job with."""

from pathlib import Path

from pyspark.sql import SparkSession

from lineproof.bench.throughput import plain_session

WRITTEN = "parquet.enable.dictionary#value"
LOG_TASKS = "spark.databricks.delta.snapshotPartitions"


def test_has_none_of_our_settings_and_leaves_the_job_its_own(spark: SparkSession) -> None:
    session = plain_session(spark)
    assert session.conf.get("spark.sql.shuffle.partitions") == "200"
    assert session.conf.get("spark.sql.parquet.outputTimestampType") == "INT96"
    assert session.conf.get(LOG_TASKS, "50") == "50"
    assert session.conf.get(WRITTEN) == "true"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "4"
    assert spark.conf.get(LOG_TASKS) == "1"
    assert spark.conf.get(f"spark.hadoop.{WRITTEN}") == "false"


def test_knows_delta(spark: SparkSession, tmp_path: Path) -> None:
    session = plain_session(spark)
    session.range(3).write.format("delta").save(str(tmp_path / "copy"))
    assert session.read.format("delta").load(str(tmp_path / "copy")).count() == 3
