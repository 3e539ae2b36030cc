"""Failures of commands print the cause and what to do, without a traceback, and exit with code 1."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from lineproof.local.broker import Broker
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.tools import lineproof, publish
from tests.events import payload
from tests.jvm_options import SPARK_OPTIONS


def options(settings: Settings, **kafka: str) -> list[str]:
    changed = {
        "home": str(settings.home),
        "topics.events": settings.topics.events,
        "topics.dead_letters": settings.topics.dead_letters,
        **{f"kafka.{name}": value for name, value in {**settings.kafka, **kafka}.items()},
        **SPARK_OPTIONS,
    }
    return [f"--set={name}={value}" for name, value in changed.items()]


def assert_failed(process: subprocess.CompletedProcess[str], *messages: str) -> None:
    assert process.returncode == 1, process.stderr
    for message in messages:
        assert message in process.stderr
    assert "Traceback" not in process.stderr


def test_broker_down(settings: Settings) -> None:
    down = options(settings, **{"bootstrap.servers": "127.0.0.1:1"})
    assert_failed(lineproof("job", *down), "127.0.0.1:1 does not answer", "bootstrap.servers")
    check = lineproof("check", *down)
    assert check.returncode == 1
    assert "does not answer" in check.stdout


def test_topic_missing(settings: Settings) -> None:
    assert_failed(lineproof("job", *options(settings), "--set=topics.events=nowhere"), "nowhere", "--create-topics")


def test_no_broker_configured(tmp_path: Path) -> None:
    assert_failed(lineproof("job", f"--set=home={tmp_path}"), "No Kafka broker is configured", "lineproof up")


def test_wrong_and_right_password(tmp_path: Path) -> None:
    """With a broker that requires a password, for both clients: librdkafka and Spark."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    broker = Broker(
        tmp_path / "broker",
        extra={
            "listeners": f"SASL://127.0.0.1:{port}",
            "listener.security.protocol.map": "SASL:SASL_PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl.plain.sasl.jaas.config": f'{module} required user_me="right";',
        },
    )
    config = tmp_path / "lineproof.yaml"
    config.write_text(
        f"home: {tmp_path}/home\n"
        f"kafka: {{bootstrap.servers: 127.0.0.1:{port}, security.protocol: SASL_PLAINTEXT, sasl.mechanism: PLAIN,\n"
        "  sasl.username: me, sasl.password: '${PASSWORD}'}\n"
        f"spark: {json.dumps(SPARK_OPTIONS)}\n"
    )
    event = tmp_path / "event.json"
    event.write_bytes(payload())
    job = ("job", "--create-topics", "--trigger=available-now", "--config", str(config))
    plain = KafkaCluster({"bootstrap.servers": broker.start()})
    try:
        plain.create_topics(["lineage.events", "lineage.dead-letters"], 1, 1)
        wrong = lineproof(*job, PASSWORD="wrong-secret")
        assert_failed(wrong, "refused the credentials", "sasl.password")
        assert "wrong-secret" not in wrong.stderr + wrong.stdout
        check = lineproof("check", "--config", str(config), PASSWORD="wrong-secret")
        assert "wrong-secret" not in check.stderr + check.stdout

        sent = lineproof("load", str(event), "--config", str(config), PASSWORD="right")
        assert (sent.returncode, sent.stderr.strip()) == (0, "1 events sent.")
        assert lineproof(*job, PASSWORD="right").returncode == 0
        assert Tables(f"{tmp_path}/home/tables").query("SELECT count(*) FROM runs").rows == [(1,)]
    finally:
        broker.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_disk_full_loses_nothing(settings: Settings, tmp_path: Path) -> None:
    """The job stops on a full disk, and continues where it stopped once there is space."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        sent = publish(settings)
        places = (f"--set=tables={disk}/tables", f"--set=checkpoints={disk}/checkpoints")
        arguments = ["--create-topics", *options(settings), *places]
        filler = disk / "filler"
        filler.write_bytes(bytes(700_000))
        assert_failed(lineproof("job", "--trigger", "available-now", *arguments), "disk is full", "start the job again")
        filler.unlink()
        subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
        done = lineproof("job", "--trigger", "available-now", *arguments)
        assert done.returncode == 0, done.stderr
        tables = Tables(f"{disk}/tables")
        assert tables.query("SELECT count(*) FROM archive").rows == [(sent.records,)]
        assert tables.query("SELECT count(*) FROM lineage_events").rows == [(sent.events,)]
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=False)
