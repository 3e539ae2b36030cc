"""Fixtures for all tests, and how `make test` divides the tests between two workers.

A Spark session and a broker start when the first test asks for them. Their modules are imported only then, so that unit
tests need neither pyspark nor Java.
"""

import gc
import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from _pytest.terminal import TerminalReporter
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from lineproof.producers.emitter import Emitter
from lineproof.schemas.envelope import MAX_RECORD_BYTES
from lineproof.settings import Settings
from tests.jvm_options import JVM_OPTIONS, SPARK_OPTIONS
from tests.transport import Memory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lineproof.streaming.delta.reader import TableReader
    from lineproof.streaming.run import Progress
    from tests.end_to_end.tools import RunJob

os.environ["JAVA_TOOL_OPTIONS"] = JVM_OPTIONS  # for the session, and for all brokers and jobs that tests start

# Also in CI, whose profile of Hypothesis draws the same examples in every run. No deadline: no test fails because a
# machine is slow.
hypothesis.settings.register_profile("lineproof", print_blob=True, derandomize=False, deadline=None)
hypothesis.settings.load_profile("lineproof")


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Print how to repeat the tests that draw a seed of their own."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, ())]
    for report in reports:
        for name, value in getattr(report, "user_properties", ()):
            terminalreporter.write_line(f"{name}: {value}")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return FromBothEnds(config, log)


class FromBothEnds(LoadScopeScheduling):  # type: ignore[misc]
    """The first worker takes tests from the start of the list, the other from its end, one test at a time.

    The order of `testpaths` puts the tests of Spark code at the start, those that start processes at the end, and the
    unit tests in between, where the workers meet. So both are busy to the end, and each has one Spark session at most.
    """

    def _split_scope(self, nodeid: str) -> str:
        return nodeid

    def _assign_work_unit(self, node: Any) -> None:
        if node.gateway.id != "gw0":
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """The shared session of a worker."""
    from lineproof.local import jars
    from lineproof.local.java import log_options
    from lineproof.streaming.session import session

    home = tmp_path_factory.mktemp("spark")
    options = {**SPARK_OPTIONS, "spark.sql.warehouse.dir": str(home / "warehouse")}
    os.environ["PYSPARK_PYTHON"] = sys.executable  # unlike the job, tests create DataFrames from Python rows
    shared = session(options, jars.spark_jars(), log_options(home / "spark.log"))
    yield shared
    shared.stop()


@pytest.fixture(scope="session")
def sound(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> "TableReader":
    """Tables without a violation, which tests read and do not change."""
    from tests.streaming.curated import curated
    from tests.streaming.story import story

    return curated(spark, str(tmp_path_factory.mktemp("sound")), [[*story(), b"{"]])


@pytest.fixture(autouse=True)
def forget_tables(request: pytest.FixtureRequest) -> Iterator[None]:
    """Delta keeps what it knows of a table for an hour: some MB each, and every test makes sixteen of its own."""
    yield
    if {"spark", "tmp_path"} <= {*request.fixturenames}:
        gc.collect()  # Python's references into the JVM
        request.getfixturevalue("spark")._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def emitter(memory: Memory) -> Emitter:
    return Emitter(memory, "tests")


@pytest.fixture(scope="session")
def bootstrap_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the shared broker of a worker: in a container if there is a Docker engine, else from JARs."""
    if Path("/var/run/docker.sock").exists() or os.environ.get("DOCKER_HOST"):
        from testcontainers.kafka import KafkaContainer

        with KafkaContainer().with_kraft().with_env("KAFKA_MESSAGE_MAX_BYTES", str(MAX_RECORD_BYTES)) as container:
            yield container.get_bootstrap_server()
    else:
        from lineproof.local.broker import Broker

        broker = Broker(tmp_path_factory.mktemp("broker"))
        yield broker.start()
        broker.stop()


@pytest.fixture
def settings(bootstrap_servers: str, tmp_path: Path) -> Settings:
    """Settings with their own topics and directory."""
    from lineproof.topics.cluster import KafkaCluster

    name = uuid.uuid4().hex[:8]
    settings = Settings(
        home=tmp_path / "home",
        trigger="available-now",
        topics={
            **{"events": f"events-{name}", "dead_letters": f"dead-{name}", "partitions": 2},
            **{"runs": "", "violations": "", "quality": ""},
        },
        kafka={"bootstrap.servers": bootstrap_servers},
        spark=SPARK_OPTIONS,
    )
    KafkaCluster(settings.kafka).create_topics([settings.topics.events, settings.topics.dead_letters], 2, 1)
    return settings


@pytest.fixture
def run_job(spark: "SparkSession") -> "RunJob":
    """Runs the job in the shared session until it has caught up, and returns its batches."""
    from lineproof.local.job_config import NO_RECOVERY, Recovery, job_config
    from lineproof.local.job_topics import describe_topics
    from lineproof.streaming import run

    def run_until_caught_up(settings: Settings, recovery: Recovery = NO_RECOVERY) -> "list[Progress]":
        batches: list[Progress] = []
        run.run(spark, job_config(settings, recovery), lambda: describe_topics(settings), batches.append, lambda: False)
        return batches

    return run_until_caught_up
