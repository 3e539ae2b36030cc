"""Delivery to a real broker that starts late, hangs, or is killed: every event arrives, in order per key."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from lineproof.local.broker import Broker
from lineproof.producers.delivery import Delivery
from lineproof.producers.transports.base import EndpointUnavailable
from lineproof.producers.transports.kafka import kafka_transport
from lineproof.schemas.envelope import Envelope, decode
from tests.events import payload, sealed

PARTITIONS = 3
KEYS = 10
PATIENCE_S = 60
ENVELOPE = sealed(payload())


class Server:
    """A broker that tests stop, suspend and kill. It starts on the same port every time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._broker = Broker(directory)
        self.address = self.start()

    def start(self) -> str:
        return self._broker.start()

    def stop(self) -> None:
        self._broker.stop()

    def send_signal(self, number: signal.Signals) -> None:
        os.kill(json.loads((self._directory / "broker.json").read_text())["pid"], number)

    def create(self, topic: str, **config: str) -> str:
        admin = AdminClient({"bootstrap.servers": self.address})
        (created,) = admin.create_topics([NewTopic(topic, PARTITIONS, 1, config=config)]).values()
        created.result(timeout=20)
        return topic


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("broker"))
    yield server
    server.stop()


@pytest.fixture
def topic(server: Server) -> str:
    assert server.start() == server.address
    return server.create(f"events-{uuid.uuid4().hex[:8]}")


Deliver = Callable[[str], Delivery]


@pytest.fixture
def deliver(server: Server, tmp_path: Path) -> Iterator[Deliver]:
    made: list[Delivery] = []

    def make(topic: str) -> Delivery:
        made.append(kafka_transport({"bootstrap.servers": server.address}, topic, tmp_path / "spool"))
        return made[-1]

    yield make
    for each in made:
        each.close(0)


def publish(delivery: Delivery, numbers: range) -> None:
    for number in numbers:
        delivery.publish(b"run %d" % (number % KEYS), replace(ENVELOPE, sequence=number))


def records(server: Server, topic: str) -> list[tuple[bytes, bytes]]:
    """All records of the topic."""
    consumer = Consumer({"bootstrap.servers": server.address, "group.id": "none", "log_level": 0})
    partitions = [TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)]
    consumer.assign(partitions)
    count = sum(consumer.get_watermark_offsets(partition, timeout=20)[1] for partition in partitions)
    found: list[tuple[bytes, bytes]] = []
    while len(found) < count:
        batch = consumer.consume(count - len(found), 20)
        assert batch, f"{len(found)} of {count} came"
        found += [(message.key(), message.value()) for message in batch]  # type: ignore[misc]
    consumer.close()
    return found


def assert_arrived(server: Server, topic: str, numbers: range) -> list[tuple[bytes, bytes]]:
    """Every number has arrived, always with the same content, and in order per key."""
    found = records(server, topic)
    unique = list(dict.fromkeys(found))
    orders: dict[bytes, list[int]] = {}
    for key, value in unique:
        envelope = decode(value)
        assert isinstance(envelope, Envelope)
        orders.setdefault(key, []).append(envelope.sequence)
    assert orders == {b"run %d" % key: [n for n in numbers if n % KEYS == key] for key in range(KEYS)}
    return found


def test_with_a_running_broker_every_event_arrives_once(server: Server, topic: str, deliver: Deliver) -> None:
    delivery = deliver(topic)
    delivery.confirm(20)
    publish(delivery, range(3000))
    assert delivery.flush(PATIENCE_S)
    assert len(assert_arrived(server, topic, range(3000))) == 3000
    stats = delivery.stats
    assert (stats.delivered, stats.errors, stats.lost, stats.rejected, stats.pending) == (3000, 0, 0, 0, 0)
    assert delivery.close(PATIENCE_S)


def test_events_wait_for_a_broker_that_is_not_there_yet(server: Server, topic: str, deliver: Deliver) -> None:
    server.stop()
    delivery = deliver(topic)
    publish(delivery, range(2000))
    with pytest.raises(EndpointUnavailable, match="The Kafka brokers do not answer"):
        delivery.confirm(0.5)
    assert delivery.stats.pending == 2000
    assert server.start() == server.address
    assert delivery.flush(PATIENCE_S)
    assert_arrived(server, topic, range(2000))


def test_events_wait_for_a_broker_that_hangs(server: Server, topic: str, deliver: Deliver) -> None:
    delivery = deliver(topic)
    publish(delivery, range(1000))
    server.send_signal(signal.SIGSTOP)
    try:
        publish(delivery, range(1000, 3000))
        assert not delivery.flush(1)
    finally:
        server.send_signal(signal.SIGCONT)
    assert delivery.flush(PATIENCE_S)
    assert_arrived(server, topic, range(3000))


def test_no_event_is_lost_when_the_broker_is_killed_while_sending(server: Server, topic: str, deliver: Deliver) -> None:
    delivery = deliver(topic)
    publish(delivery, range(500))
    assert delivery.flush(PATIENCE_S)
    producer = threading.Thread(target=publish, args=(delivery, range(500, 20_000)))
    producer.start()
    server.send_signal(signal.SIGKILL)
    producer.join()
    assert delivery.stats.pending > 0
    assert server.start() == server.address
    assert delivery.flush(PATIENCE_S)
    assert_arrived(server, topic, range(20_000))


def test_events_wait_for_their_topic(
    server: Server, topic: str, deliver: Deliver, caplog: pytest.LogCaptureFixture
) -> None:
    late = f"late-{topic}"
    delivery = deliver(late)
    with pytest.raises(EndpointUnavailable, match=f"The topic {late} cannot be used"):
        delivery.confirm(20)
    publish(delivery, range(100))
    deadline = time.monotonic() + PATIENCE_S
    while delivery.stats.errors < 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert "Events cannot be delivered now:" in caplog.text
    assert delivery.stats.pending == 100
    server.create(late)
    assert delivery.flush(PATIENCE_S)
    assert_arrived(server, late, range(100))


def test_only_records_that_are_too_large_are_rejected(server: Server, topic: str, deliver: Deliver) -> None:
    """A topic rejects a whole batch that is too large, although it accepts most of its records one by one."""
    narrow = server.create(f"narrow-{topic}", **{"max.message.bytes": "4000", "compression.type": "uncompressed"})
    delivery = deliver(narrow)
    publish(delivery, range(100))
    delivery.publish(b"large", replace(ENVELOPE, payload=os.urandom(10_000)))
    publish(delivery, range(100, 200))
    assert delivery.flush(PATIENCE_S)
    assert_arrived(server, narrow, range(200))
    assert (delivery.stats.delivered, delivery.stats.rejected) == (200, 1)


def test_a_forked_child_does_not_close_the_producer_of_its_parent(server: Server, topic: str, tmp_path: Path) -> None:
    """The threads of librdkafka do not exist in the child, which would wait for them for ever."""
    script = """
import os, sys
from pathlib import Path
from lineproof.producers.transports.kafka import kafka_transport
from tests.end_to_end.test_delivery import publish
delivery = kafka_transport({"bootstrap.servers": sys.argv[1]}, sys.argv[2], Path(sys.argv[3]))
publish(delivery, range(100))
assert delivery.flush(20)
if os.fork() == 0:
    publish(delivery, range(100, 200))
    sys.exit(0)
_, status = os.wait()
assert status == 0
publish(delivery, range(200, 300))
"""
    command = [sys.executable, "-c", script, server.address, topic, str(tmp_path)]
    subprocess.run(command, cwd=Path(__file__).parents[2], check=True, timeout=PATIENCE_S)
    assert len(assert_arrived(server, topic, range(300))) == 300
