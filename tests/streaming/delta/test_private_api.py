"""The contract with private API: every method that `delta/private_api` calls, by name and number of parameters.

After an upgrade of Spark or Delta, the name of the failed test says which call has to be changed.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lineproof.streaming.delta.private_api.checkpoint_log import CheckpointLog
from lineproof.streaming.delta.private_api.hadoop_settings import settings_sources
from lineproof.streaming.delta.private_api.jvm_process import jvm_process
from lineproof.streaming.delta.private_api.versions import TRIED, check_versions

DELTA = "org.apache.spark.sql.delta"
METHODS = {
    "io.delta.package": {"VERSION": 0},
    f"{DELTA}.DeltaLog": {"forTable": 2, "update": 3, "startTransaction": 0, "createDataFrame": 4},
    f"{DELTA}.OptimisticTransaction": {"snapshot": 0, "readTxn": 0, "writeFiles": 1, "commit": 2},
    f"{DELTA}.Snapshot": {
        **{"checksumOpt": 0, "transactions": 0, "metadata": 0, "version": 0},
        **{"filesForScan": 2},
    },
    f"{DELTA}.VersionChecksum": {"setTransactions": 0},
    f"{DELTA}.stats.DeltaScan": {"files": 0},
    f"{DELTA}.actions.SetTransaction": {"<init>": 3, "appId": 0, "version": 0},
    f"{DELTA}.actions.Metadata": {"configuration": 0},
    f"{DELTA}.actions.AddFile": {"path": 0, "size": 0, "remove": 0},
    f"{DELTA}.DeltaOperations$StreamingUpdate": {"<init>": 4},
    "org.apache.spark.api.python.PythonUtils": {"toSeq": 1},
    "org.apache.spark.sql.classic.Dataset": {"queryExecution": 0},
    "org.apache.spark.sql.classic.SparkSession": {"setActiveSession": 1},
    "org.apache.spark.sql.execution.QueryExecution": {"analyzed": 0},
    "org.apache.spark.sql.catalyst.plans.logical.Filter": {"condition": 0},
    "org.apache.spark.sql.streaming.OutputMode": {"Append": 0, "Update": 0},
}
CALLS = [(name, method, count) for name, methods in METHODS.items() for method, count in methods.items()]


@pytest.mark.parametrize(("name", "method", "parameters"), CALLS, ids=lambda part: str(part).rpartition(".")[2])
def test_the_method_exists(spark: SparkSession, name: str, method: str, parameters: int) -> None:
    jvm: Any = spark._jvm
    found = jvm.py4j.reflection.ReflectionUtil.classForName(name)
    members = found.getConstructors() if method == "<init>" else found.getMethods()
    counts = {member.getParameterCount() for member in members if method in ("<init>", member.getName())}
    assert parameters in counts, f"{name}.{method} takes {sorted(counts) or 'no form that is public'}"


def test_the_attributes_of_pyspark_exist(spark: SparkSession) -> None:
    assert spark._jvm is not None
    assert spark._jsc.hadoopConfiguration() is not None
    assert spark._jsparkSession is not None
    assert spark.range(1)._jdf is not None
    jvm = jvm_process(spark)
    assert jvm is not None
    assert jvm.poll() is None


def test_hadoop_keeps_the_sources_of_its_settings(spark: SparkSession) -> None:
    assert len(settings_sources(spark)) >= 0


def test_the_checkpoint_of_a_query_has_the_format_that_is_read_and_written(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.format("delta").save(str(tmp_path / "table"))
    query = (
        spark.readStream.format("delta")
        .load(str(tmp_path / "table"))
        .writeStream.format("noop")
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    query.awaitTermination()
    log = CheckpointLog(spark, str(tmp_path / "checkpoint"))
    assert (log.query_id(), log.last_planned_batch(), log.last_finished_batch()) == (query.id, 0, 0)
    assert {"reservoirVersion", "isStartingVersion"} <= log.end_offset(0).keys()
    assert log.finished_at_ms(0)
    assert log.finished_at_ms(1) is None

    copy = CheckpointLog(spark, str(tmp_path / "copy"))
    assert (copy.query_id(), copy.last_planned_batch(), copy.end_offset(-1)) == (None, -1, None)
    copy.plan_batch(0, log.end_offset(0))
    copy.finish_batch(0)
    copy.set_query_id("id")
    assert (copy.query_id(), copy.last_planned_batch(), copy.last_finished_batch()) == ("id", 0, 0)
    for part, lines in (("offsets", 3), ("commits", 2)):
        ours, sparks = ((tmp_path / place / part / "0").read_text().splitlines() for place in ("copy", "checkpoint"))
        assert len(ours) == len(sparks) == lines
        assert ours[0] == sparks[0] == "v1"
    assert log.end_offset(0) == copy.end_offset(0)


def test_the_versions_of_this_installation_are_the_tried_ones(spark: SparkSession) -> None:
    check_versions(spark)
    assert version("pyspark").startswith(f"{TRIED['Spark']}.")
    assert version("delta-spark").startswith(f"{TRIED['Delta']}.")
