"""One Spark session for the run and one broker for a worker, started only when a test asks; an emitter into memory."""

import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lineproof.local import jars
from lineproof.local.broker import Broker
from lineproof.local.java import log_options
from lineproof.local.job_runner import NO_RECOVERY, Recovery, job_config, topic_now
from lineproof.producers.emitter import Emitter
from lineproof.schemas.envelope import MAX_RECORD_BYTES
from lineproof.settings import Settings
from lineproof.streaming import run as work
from lineproof.streaming.session import session
from lineproof.topics.cluster import Kafka
from tests.end_to_end.tools import SHORT_LIVED, SHORT_LIVED_JVM, RunJob
from tests.transport import Memory

SPARK = {"spark.master": "local[2]", "spark.driver.memory": "2g", **SHORT_LIVED}

os.environ["JAVA_TOOL_OPTIONS"] = SHORT_LIVED_JVM  # of the session, and of all brokers and jobs that tests start


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make test` has two workers: all that shares the session is for one, all that starts processes for the other."""
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        items[:] = [item for item in items if ("spark" in getattr(item, "fixturenames", ())) == (worker == "gw0")]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The shared session."""
    home = tmp_path_factory.mktemp("spark")
    options = {**SPARK, "spark.sql.warehouse.dir": str(home / "warehouse")}
    os.environ["PYSPARK_PYTHON"] = sys.executable  # tests, unlike the job, make frames of Python rows
    shared = session(options, jars.spark_jars(), log_options(home / "spark.log"))
    yield shared
    shared.stop()


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def emitter(memory: Memory) -> Emitter:
    return Emitter(memory, "tests")


@pytest.fixture(scope="session")
def bootstrap_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The shared broker: in a container where there is a Docker engine, from JARs elsewhere."""
    if Path("/var/run/docker.sock").exists() or os.environ.get("DOCKER_HOST"):
        from testcontainers.kafka import KafkaContainer

        with KafkaContainer().with_kraft().with_env("KAFKA_MESSAGE_MAX_BYTES", str(MAX_RECORD_BYTES)) as container:
            yield container.get_bootstrap_server()
    else:
        broker = Broker(tmp_path_factory.mktemp("broker"))
        yield broker.start()
        broker.stop()


@pytest.fixture
def settings(bootstrap_servers: str, tmp_path: Path) -> Settings:
    """Settings with topics and a directory of their own."""
    name = uuid.uuid4().hex[:8]
    settings = Settings(
        home=tmp_path / "home",
        trigger="available-now",
        topics={
            **{"events": f"events-{name}", "dead_letters": f"dead-{name}", "partitions": 2},
            **{"runs": "", "violations": "", "quality": ""},
        },
        kafka={"bootstrap.servers": bootstrap_servers},
        spark=SPARK,
    )
    Kafka(settings.kafka).create_topics([settings.topics.events, settings.topics.dead_letters], 2, 1)
    return settings


@pytest.fixture
def run_job(spark: SparkSession) -> RunJob:
    """Runs the job on the shared session until it has caught up, and returns its batches."""

    def run(settings: Settings, recovery: Recovery = NO_RECOVERY) -> list[work.Progress]:
        batches: list[work.Progress] = []
        work.run(spark, job_config(settings, recovery), lambda: topic_now(settings), batches.append, lambda: False)
        return batches

    return run
