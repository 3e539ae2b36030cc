"""What the session does to keep small batches fast."""

from pathlib import Path

from pyspark.sql import SparkSession

from lineproof.streaming.delta.private_api.hadoop_settings import settings_sources

OUR_SETTINGS = 100
"""About as many as Spark adds to Hadoop's thousand settings."""


def test_settings_are_sent_without_their_sources(spark: SparkSession) -> None:
    spark.range(1).count()
    state = spark._jsparkSession.sessionState()
    settings = state.newHadoopConf()
    assert settings.size() > 500, "all settings are still there"
    assert settings.get("io.file.buffer.size")
    assert len(settings_sources(spark)) < OUR_SETTINGS


def test_files_are_written_without_a_process_for_each(spark: SparkSession, tmp_path: Path) -> None:
    jvm = spark._jvm
    assert jvm is not None
    files = jvm.org.apache.hadoop.fs.Path(str(tmp_path)).getFileSystem(spark._jsc.hadoopConfiguration())
    assert files.getRawFileSystem().getClass().getSimpleName() == "NakedLocalFileSystem"


def test_files_have_the_permissions_that_new_files_of_the_user_have(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    spark.range(1).coalesce(1).write.parquet(str(tmp_path / "written"))
    [written] = (tmp_path / "written").glob("*.parquet")
    assert written.stat().st_mode == (tmp_path / "mine").stat().st_mode
