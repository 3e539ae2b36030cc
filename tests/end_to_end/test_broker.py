"""The embedded broker keeps its data, whether it is stopped, killed or moved to another port."""

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from lineproof.local.broker import Broker, BrokerError

TOPIC = "events"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path / "a broker, ä")  # a name that a properties file cannot hold
    yield broker
    broker.stop()


def put(address: str, value: bytes) -> None:
    admin = AdminClient({"bootstrap.servers": address})
    (created,) = admin.create_topics([NewTopic(TOPIC, 1, 1)]).values()
    created.result(timeout=10)
    producer = Producer({"bootstrap.servers": address, "message.max.bytes": 20_000_000})
    producer.produce(TOPIC, value)
    assert producer.flush(10) == 0


def get(address: str) -> bytes | None:
    reader = {"group.id": "test", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": address, "fetch.message.max.bytes": 20_000_000, **reader})
    consumer.subscribe([TOPIC])
    try:
        message = consumer.poll(20)
        assert message is not None, "no record arrived"
        assert message.error() is None, message.error()
        return message.value()
    finally:
        consumer.close()


def state(tmp_path: Path) -> dict[str, int]:
    (file,) = tmp_path.glob("*/broker.json")
    return dict(json.loads(file.read_text()))


def test_records_survive_a_restart_and_a_kill(broker: Broker, tmp_path: Path) -> None:
    assert broker.address() is None
    address = broker.start()
    put(address, b"still here")
    assert get(address) == b"still here"

    broker.stop()
    assert broker.address() is None
    assert broker.start() == address, "the port stays the same"
    assert get(address) == b"still here"

    os.kill(state(tmp_path)["pid"], signal.SIGKILL)
    assert get(broker.start()) == b"still here"


def test_a_running_broker_is_found_and_not_started_twice(broker: Broker, tmp_path: Path) -> None:
    address = broker.start()
    pid = state(tmp_path)["pid"]
    other_command = Broker(tmp_path / "a broker, ä")
    assert other_command.start() == address
    assert other_command.address() == address
    assert state(tmp_path)["pid"] == pid
    other_command.stop()
    assert broker.address() is None


def test_a_directory_in_use_is_not_touched_even_if_its_state_file_is_lost(broker: Broker, tmp_path: Path) -> None:
    address = broker.start()
    put(address, b"unharmed")
    (state_file,) = tmp_path.glob("*/broker.json")
    content = state_file.read_text()
    state_file.unlink()
    with pytest.raises(BrokerError, match="Another broker uses the directory"):
        broker.start(timeout_s=1)
    state_file.write_text(content)
    assert get(address) == b"unharmed"


def test_another_process_with_the_recorded_pid_is_not_stopped(broker: Broker, tmp_path: Path) -> None:
    directory = tmp_path / "a broker, ä"
    directory.mkdir()
    (directory / "broker.json").write_text(json.dumps({"pid": os.getpid(), "port": 1, "controller_port": 2}))
    assert broker.address() is None
    broker.stop()


def test_another_port_is_used_if_the_previous_one_is_taken(broker: Broker) -> None:
    address = broker.start()
    put(address, b"moved")
    broker.stop()
    with socket.create_server(("127.0.0.1", int(address.split(":")[1]))):
        moved = broker.start()
    assert moved != address
    assert get(moved) == b"moved"


def test_large_records_are_accepted(broker: Broker) -> None:
    address = broker.start()
    put(address, b"x" * 15_000_000)
    value = get(address)
    assert value is not None
    assert len(value) == 15_000_000


def test_a_broker_that_cannot_start_reports_the_cause(tmp_path: Path) -> None:
    broken = Broker(tmp_path / "broken", extra={"log.retention.ms": "soon"})
    with pytest.raises(BrokerError, match=r"log\.retention\.ms[\s\S]*Its log is .*broker\.log"):
        broken.start()
    assert broken.address() is None
