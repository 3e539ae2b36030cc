"""The JARs are downloaded once, completely or not at all, with helpful errors. A shell script stands in for Ivy."""

import os
import sys
from pathlib import Path

import pytest

from lineproof.local import jars

DOWNLOADS = """
for arg; do case $arg in */\\[conf\\]/*) into=${arg%%/\\[conf\\]*};; esac; done
mkdir -p "$into/spark" "$into/local" "$into/broker" "$into/cache/org.apache.kafka"
touch "$into/spark/delta-storage-4.4.0.jar" "$into/spark/snappy-java-1.1.10.8.jar"
touch "$into/spark/spark-sql-kafka-0-10_2.13-4.1.3.jar" "$into/spark/zstd-jni-1.5.7-3.jar"
touch "$into/local/hadoop-bare-naked-local-fs-0.1.0.jar"
touch "$into/broker/kafka_2.13-4.1.2.jar" "$into/broker/zstd-jni-1.5.6-10.jar"
"""
LIBRARY_NOT_FOUND = """
echo '		::          UNRESOLVED DEPENDENCIES         ::'
echo '		:: org.apache.spark#spark-avro_2.13;4.1.1: not found'
exit 1
"""
OFFLINE = """
echo '		:: io.delta#delta-storage;4.4.0!delta-storage.jar'
echo '	Server access error at url http://host/x.pom (java.net.UnknownHostException: no such host)'
exit 1
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PySpark that ships two of the libraries, and no JARs of ours yet."""
    shipped = tmp_path / "site" / "pyspark" / "jars"
    shipped.mkdir(parents=True)
    (shipped.parent / "__init__.py").touch()
    for name in ("ivy-2.5.3.jar", "snappy-java-1.1.10.7.jar", "zstd-jni-1.5.7-6.jar", "kafka-tools.jar"):
        (shipped / name).touch()
    monkeypatch.syspath_prepend(shipped.parent.parent)
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    monkeypatch.setenv("LINEPROOF_JARS", str(tmp_path / "jars"))
    return tmp_path / "jars"


def set_ivy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str) -> None:
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    version = """[ "$1" = -version ] && { echo 'openjdk version "17.0.1"' >&2; exit; }"""
    java.write_text(f"#!/bin/sh\n{version}\n{script}")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))


def test_home_is_in_the_environment_of_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LINEPROOF_JARS", raising=False)
    assert jars.jars_home() == Path(sys.prefix) / "share" / "lineproof" / "jars"


def test_resolve_puts_the_jars_in_place_and_leaves_nothing_else(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_ivy(monkeypatch, tmp_path, DOWNLOADS)
    reports: list[str] = []
    jars.resolve(reports.append)
    assert sorted(path.name for path in home.iterdir()) == ["broker", "ivy.log", "ivy.sha256", "local", "spark"]
    assert not home.with_name("jars.partial").exists()
    assert reports[-1] == f"JARs are in place: {home}"


def test_spark_gets_only_jars_that_pyspark_does_not_ship(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_ivy(monkeypatch, tmp_path, DOWNLOADS)
    jars.resolve(lambda _: None)
    assert [jar.name for jar in jars.spark_jars()] == [
        "delta-storage-4.4.0.jar",
        "spark-sql-kafka-0-10_2.13-4.1.3.jar",
        "hadoop-bare-naked-local-fs-0.1.0.jar",
    ]


def test_the_broker_gets_all_of_its_jars(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_ivy(monkeypatch, tmp_path, DOWNLOADS)
    jars.resolve(lambda _: None)
    names = ["kafka_2.13-4.1.2.jar", "zstd-jni-1.5.6-10.jar"]
    assert jars.broker_classpath() == os.pathsep.join(f"{home}/broker/{name}" for name in names)


def test_a_second_run_needs_neither_java_nor_network(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_ivy(monkeypatch, tmp_path, DOWNLOADS)
    jars.resolve(lambda _: None)
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    jars.resolve(lambda _: None)


@pytest.mark.parametrize("find_jars", [jars.spark_jars, jars.broker_classpath])
def test_missing_jars_are_reported_with_the_command_that_downloads_them(home: Path, find_jars: object) -> None:
    assert callable(find_jars)
    with pytest.raises(jars.JarsError, match=r"are missing\.\nRun `lineproof jars`"):
        find_jars()


def test_jars_of_another_version_are_replaced(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "broker").mkdir(parents=True)
    (home / "broker" / "kafka_2.13-3.0.0.jar").touch()
    (home / "ivy.sha256").write_text("the hash of an older list")
    with pytest.raises(jars.JarsError, match="belong to another version"):
        jars.broker_classpath()
    set_ivy(monkeypatch, tmp_path, DOWNLOADS)
    jars.resolve(lambda _: None)
    assert "3.0.0" not in jars.broker_classpath()


def test_an_unknown_library_is_named(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_ivy(monkeypatch, tmp_path, LIBRARY_NOT_FOUND)
    with pytest.raises(jars.JarsError, match=r"Could not download org.apache.spark#spark-avro_2.13;4.1.1\. Ivy"):
        jars.resolve(lambda _: None)
    assert not home.exists()


def test_without_network_the_reason_is_reported(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_ivy(monkeypatch, tmp_path, OFFLINE)
    with pytest.raises(jars.JarsError, match=r"delta-storage;4.4.0: no such host\.[\s\S]*Check that this machine"):
        jars.resolve(lambda _: None)


def test_a_failed_run_is_continued_from_its_cache(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_ivy(monkeypatch, tmp_path, DOWNLOADS + LIBRARY_NOT_FOUND)
    with pytest.raises(jars.JarsError):
        jars.resolve(lambda _: None)
    assert (home.with_name("jars.partial") / "cache" / "org.apache.kafka").is_dir()
    set_ivy(monkeypatch, tmp_path, DOWNLOADS)
    jars.resolve(lambda _: None)
    assert jars.broker_classpath()


def test_ivy_is_killed_when_it_hangs(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_ivy(monkeypatch, tmp_path, "exec sleep 60")
    monkeypatch.setattr(jars, "_STALL_TIMEOUT_S", 0.3)
    with pytest.raises(jars.JarsError, match="Could not download the JARs"):
        jars.resolve(lambda _: None)


def test_a_directory_that_cannot_be_written(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LINEPROOF_JARS", str(tmp_path / "file" / "jars"))
    set_ivy(monkeypatch, tmp_path, DOWNLOADS)
    with pytest.raises(jars.JarsError, match="set LINEPROOF_JARS to another directory"):
        jars.resolve(lambda _: None)
