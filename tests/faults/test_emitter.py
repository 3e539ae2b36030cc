"""Every event arrives, although the broker and the emitting service are killed.

`make faults` emits 100,000 events. FAULT_EVENTS sets another number, as CI does.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from lineproof.local.broker import Broker
from lineproof.schemas.envelope import Envelope, decode
from lineproof.topics.cluster import KafkaCluster

EVENTS = int(os.environ.get("FAULT_EVENTS", "100000"))
BROKER_KILLS = 5
TOPIC = "numbered"

pytestmark = pytest.mark.faults


def test_every_event_arrives_whatever_is_killed(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "broker")
    address = broker.start()
    service: Service | None = None
    try:
        KafkaCluster({"bootstrap.servers": address}).create_topics([TOPIC], 4, 1)
        service = Service(address, tmp_path)
        share = EVENTS // (BROKER_KILLS + 1)
        for kill in range(1, BROKER_KILLS + 1):
            service.emit_until(share * kill)
            process = broker.process()
            assert process
            process.kill()
            process.wait(30)
            emitted_before = len(service.emitted())
            service.emit_until(share * kill + share // 2)
            if kill == 3:
                service.kill_while_emitting(share * kill + share // 4 * 3)
                service = Service(address, tmp_path)
            assert broker.start() == address
            wait_for_more(address, emitted_before)
        service.emit_until(EVENTS)
        assert service.process.wait(600) == 0
        emitted = service.emitted()
        assert emitted == list(range(EVENTS))
        envelopes = arrived(address)
    finally:
        if service:
            service.process.kill()
        broker.stop()

    event_ids: dict[int, set[str]] = defaultdict(set)
    sequences: dict[str, set[int]] = defaultdict(set)
    for envelope in envelopes:
        number = json.loads(envelope.payload)["run"]["facets"]["test_number"]["number"]
        event_ids[number].add(envelope.event_id)
        sequences[envelope.emitter_id].add(envelope.sequence)
    assert sorted(event_ids) == list(range(EVENTS))
    # One event may have been emitted twice: its number was not yet in the file when the service was killed.
    assert sum(len(ids) > 1 for ids in event_ids.values()) <= 1
    assert len(sequences) == 2
    assert all(numbers == set(range(len(numbers))) for numbers in sequences.values())
    print(f"{EVENTS} events, {len(envelopes) - len(event_ids)} of them twice")


class Service:
    """The emitting process, which stops at a limit."""

    def __init__(self, address: str, directory: Path) -> None:
        self._limit, self._log = directory / "limit", directory / "emitted"
        self._limit.write_text(str(len(self.emitted())))
        script = Path(__file__).with_name("emitting.py")
        self.process = subprocess.Popen([sys.executable, str(script), address, TOPIC, str(directory), str(EVENTS)])

    def emitted(self) -> list[int]:
        """The numbers in the file."""
        return [int(number) for number in self._log.read_text().split()] if self._log.exists() else []

    def emit_until(self, number: int) -> None:
        """Raise the limit, and wait until the service reaches it."""
        self._set_limit(number)
        self._wait_for(number)

    def kill_while_emitting(self, number: int) -> None:
        """Raise the limit, and kill the service before it reaches it."""
        begin = len(self.emitted())
        self._set_limit(number)
        self._wait_for(begin + 1)
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait(30) == -signal.SIGKILL

    def _set_limit(self, number: int) -> None:
        new = self._limit.with_suffix(".new")
        new.write_text(str(number))
        new.replace(self._limit)

    def _wait_for(self, number: int) -> None:
        deadline = time.monotonic() + 600
        while len(self.emitted()) < number:
            assert self.process.poll() in (None, 0), "the service stopped"
            assert time.monotonic() < deadline, "the service makes no progress"
            time.sleep(0.05)


def count_records(address: str) -> int:
    """The number of records on the topic."""
    return sum(end - begin for begin, end in KafkaCluster({"bootstrap.servers": address}).offsets(TOPIC).values())


def wait_for_more(address: str, records: int) -> None:
    """Wait until the service has reconnected, and delivered events that it emitted without a broker."""
    deadline = time.monotonic() + 120
    while count_records(address) <= records:
        assert time.monotonic() < deadline, "no record is delivered"
        time.sleep(0.1)


def arrived(address: str) -> list[Envelope]:
    """All events on the topic."""
    count = count_records(address)
    consumer = Consumer({"bootstrap.servers": address, "group.id": "faults", "auto.offset.reset": "earliest"})
    consumer.subscribe([TOPIC])
    envelopes: list[Envelope] = []
    while len(envelopes) < count:
        messages = consumer.consume(1000, timeout=30)
        assert messages, f"{len(envelopes)} of {count} records arrived"
        envelopes += [opened for message in messages if isinstance(opened := decode(message.value()), Envelope)]
    consumer.close()
    return envelopes
