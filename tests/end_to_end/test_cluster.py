"""The example for spark-submit, on a standalone master with two worker processes."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest
import yaml

from lineproof.local import jars
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from tests.end_to_end.tools import publish

ROOT = Path(__file__).parents[2]
SPARK_HOME = Path(pyspark.__file__).parent
ENVIRONMENT = {
    **os.environ,
    "SPARK_HOME": str(SPARK_HOME),
    "SPARK_LOCAL_IP": "127.0.0.1",
    "PYSPARK_PYTHON": sys.executable,
}


@contextmanager
def daemon(log: Path, *arguments: str) -> Iterator[None]:
    """Run a Spark master or worker."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [SPARK_HOME / "bin" / "spark-class", *arguments], stdout=output, stderr=output, env=ENVIRONMENT
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def wait_for_text(log: Path, pattern: str, count: int = 1, timeout_s: float = 60) -> str:
    deadline = time.monotonic() + timeout_s
    while len(found := re.findall(pattern, log.read_text())) < count:
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)
    return str(found[0])


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """A master with two workers of one core each."""
    log = tmp_path / "master.log"
    local = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    with daemon(log, "org.apache.spark.deploy.master.Master", *local):
        url = wait_for_text(log, r"spark://127\.0\.0\.1:\d+")
        worker = ("org.apache.spark.deploy.worker.Worker", *local, "--cores", "1", "--memory", "1g")
        with (
            daemon(tmp_path / "worker-1.log", *worker, "--work-dir", str(tmp_path / "w1"), url),
            daemon(tmp_path / "worker-2.log", *worker, "--work-dir", str(tmp_path / "w2"), url),
        ):
            wait_for_text(log, "Registering worker", count=2)
            yield url


@pytest.mark.cluster
def test_spark_submit_to_a_cluster(master: str, settings: Settings, tmp_path: Path) -> None:
    sent = publish(settings)
    config = tmp_path / "lineproof.yaml"
    config.write_text(yaml.safe_dump({**settings.model_dump(mode="json"), "spark": {}}))
    spark_jars = ",".join(map(str, (jars.jars_home() / "spark").glob("*.jar")))
    submitted = subprocess.run(
        [
            *(ROOT / "examples" / "spark_submit.sh", "--driver-memory", "1g", "--executor-memory", "1g"),
            *("--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=4"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**ENVIRONMENT, "MASTER": master, "CONFIG": str(config), "DEPENDENCIES": f"--jars {spark_jars}"},
        cwd=tmp_path,
    )
    assert submitted.returncode == 0, submitted.stderr[-3000:]
    tables = Tables(settings.tables_path)
    assert tables.query("SELECT count(*) FROM archive").rows == [(sent.records,)]
    assert tables.query("SELECT count(*) FROM lineage_events").rows == [(sent.events,)]
    assert all(list((tmp_path / worker).glob("app-*/*/stderr")) for worker in ("w1", "w2")), "a worker did nothing"
