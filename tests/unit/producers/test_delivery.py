"""Delivery loses no published event, whatever the endpoint does."""

import base64
import json
from collections import Counter
from pathlib import Path

import pytest

from lineproof.producers.spooling import delivery_worker
from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.producers.spooling.spool_directory import SpoolEntry
from lineproof.producers.transports.base import DeliveryResult, DeliveryStatus, EndpointUnavailable
from lineproof.producers.transports.kafka import InvalidKafkaOptions, kafka_transport
from lineproof.schemas.envelope import decode
from tests.delivery import (
    PATIENCE_S,
    Away,
    Deliver,
    Endpoint,
    Hanging,
    Sender,
    number_of,
    numbered,
    publish,
    spool_directories,
    wait_for,
)


def test_everything_arrives_once_and_in_order(deliver: Deliver, endpoint: Endpoint, tmp_path: Path) -> None:
    delivery = deliver()
    expected = publish(delivery, 200, b"one") | publish(delivery, 200, b"two")
    assert delivery.flush(PATIENCE_S)
    endpoint.assert_has(expected)
    assert len(endpoint.taken) == 400
    stats = delivery.stats
    assert (stats.taken, stats.delivered, stats.lost, stats.errors, stats.pending) == (400, 400, 0, 0, 0)
    assert stats.pending_bytes == 0
    assert delivery.close(PATIENCE_S)
    assert delivery.close(PATIENCE_S)
    assert spool_directories(tmp_path) == []


def test_publish_does_not_wait_for_an_endpoint_that_hangs(deliver: Deliver, endpoint: Endpoint) -> None:
    """Without the spool this would hang forever."""
    delivery = deliver(Hanging)
    expected = publish(delivery, 100)
    assert not delivery.flush(0.01)
    assert delivery.stats.pending == 100
    assert endpoint.taken == []
    Hanging.released.set()
    assert delivery.flush(PATIENCE_S)
    endpoint.assert_has(expected)


def test_records_refused_for_now_are_retried_in_order(deliver: Deliver, endpoint: Endpoint) -> None:
    sent: Counter[int] = Counter()

    class Moody(Sender):
        def attempt(self, record: SpooledRecord, entry: SpoolEntry) -> DeliveryResult:
            number = number_of(record.value)
            sent[number] += 1
            if number % 50 == 20 and sent[number] < 3:
                return DeliveryResult(DeliveryStatus.RETRY, entry, "not in the mood")
            return super().attempt(record, entry)

        def send(self, record: SpooledRecord, entry: SpoolEntry) -> bool:
            return not self._results and super().send(record, entry)

    delivery = deliver(Moody)
    expected = publish(delivery, 120)
    assert delivery.flush(PATIENCE_S)
    endpoint.assert_has(expected)
    assert len(endpoint.taken) == 120, "acknowledged records are not sent again"
    assert delivery.stats.errors == 4


def test_records_delivered_after_a_failed_record_are_not_sent_again(deliver: Deliver, endpoint: Endpoint) -> None:
    refusals = iter(range(3))

    class Unfair(Sender):
        def attempt(self, record: SpooledRecord, entry: SpoolEntry) -> DeliveryResult:
            if record.key == b"unlucky" and next(refusals, None) is not None:
                return DeliveryResult(DeliveryStatus.RETRY, entry)
            return super().attempt(record, entry)

    delivery = deliver(Unfair)
    expected = publish(delivery, 1, b"unlucky") | publish(delivery, 5, b"lucky")
    assert delivery.flush(PATIENCE_S)
    endpoint.assert_has(expected)
    assert len(endpoint.taken) == 6


def test_acknowledgements_may_come_in_any_order(deliver: Deliver, endpoint: Endpoint, tmp_path: Path) -> None:
    class Backwards(Sender):
        def poll(self, timeout_s: float) -> list[DeliveryResult]:
            late = super().poll(timeout_s)
            self._results = [*late[:1], *self._results] if len(late) > 1 else []
            return late[:0:-1] if len(late) > 1 else late

    delivery = deliver(Backwards)
    expected = publish(delivery, 100)
    assert delivery.flush(PATIENCE_S)
    endpoint.assert_has(expected)
    assert len(endpoint.taken) == 100
    assert delivery.close(PATIENCE_S)
    assert spool_directories(tmp_path) == []


@pytest.mark.parametrize("where", ["__init__", "send", "poll"])
def test_an_error_in_the_sender_does_not_end_delivery(deliver: Deliver, endpoint: Endpoint, where: str) -> None:
    failures = iter([True, True, False])

    class Broken(Sender):
        pass

    def fail(self: Sender, *arguments: object) -> object:
        if next(failures, False):
            raise ValueError("out of order")
        return getattr(Sender, where)(self, *arguments)

    setattr(Broken, where, fail)
    delivery = deliver(Broken)
    expected = publish(delivery, 20)
    assert delivery.flush(PATIENCE_S)
    endpoint.assert_has(expected)
    assert delivery.stats.errors == 2


def test_rejected_records_are_kept_in_a_file(
    deliver: Deliver, endpoint: Endpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Picky(Sender):
        def attempt(self, record: SpooledRecord, entry: SpoolEntry) -> DeliveryResult:
            if number_of(record.value) == 3:
                return DeliveryResult(DeliveryStatus.REJECTED, entry, "Too large")
            return super().attempt(record, entry)

    delivery = deliver(Picky)
    expected = publish(delivery, 6)
    assert delivery.flush(PATIENCE_S)
    endpoint.assert_has(expected - {("run", 3)})
    (line,) = (tmp_path / "spool" / "rejected.jsonl").read_text().splitlines()
    rejected = json.loads(line)
    assert (rejected["reason"], base64.b64decode(rejected["key"])) == ("Too large", b"run")
    assert decode(base64.b64decode(rejected["value"])) == numbered(3)
    assert (delivery.stats.rejected, delivery.stats.delivered, delivery.stats.pending) == (1, 5, 0)
    assert "can never be delivered: Too large" in caplog.text


def test_endpoint_errors_are_counted_and_logged(
    deliver: Deliver, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    class Grumbling(Sender):
        def poll(self, timeout_s: float) -> list[DeliveryResult]:
            return [*super().poll(timeout_s), DeliveryResult(DeliveryStatus.ENDPOINT_ERROR, None, "the line is bad")]

    delivery = deliver(Grumbling)
    expected = publish(delivery, 1)
    assert delivery.flush(PATIENCE_S)
    endpoint.assert_has(expected)
    assert delivery.stats.errors > 0
    assert "Events cannot be delivered now: the line is bad." in caplog.text


def test_a_full_spool_counts_lost_events_and_does_not_raise(deliver: Deliver) -> None:
    delivery = deliver(Hanging, max_bytes=2000)
    publish(delivery, 50)
    stats = delivery.stats
    assert stats.taken + stats.lost == 50
    assert 0 < stats.taken == stats.pending < 50


def test_events_left_at_close_are_delivered_by_the_next_delivery(
    deliver: Deliver, endpoint: Endpoint, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    former = deliver(Away)
    expected = publish(former, 10)
    assert not former.close(0.1)
    assert not former.close(0.1)
    assert f"10 events could not be delivered within 0.1 s. They wait in {tmp_path / 'spool'}" in caplog.text
    new = deliver()
    wait_for(lambda: len(endpoint.taken) == 10)  # orphaned events start delivery without a publish
    endpoint.assert_has(expected)
    assert new.close(PATIENCE_S)
    assert new.stats.delivered == 10
    assert spool_directories(tmp_path) == []


def test_a_delivery_that_was_closed_can_be_used_again(deliver: Deliver, endpoint: Endpoint) -> None:
    delivery = deliver()
    expected = publish(delivery, 5)
    assert delivery.close(PATIENCE_S)
    expected |= publish(delivery, 5, begin=5)
    assert delivery.close(PATIENCE_S)
    endpoint.assert_has(expected)


def test_orphaned_directories_are_adopted_while_a_delivery_runs(
    deliver: Deliver, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_worker, "_ADOPT_EVERY_S", 0.1)
    running = deliver()
    expected = publish(running, 1, b"mine")
    assert running.flush(PATIENCE_S)
    other = deliver(Away)
    expected |= publish(other, 5, b"other")
    other.close(0)
    wait_for(lambda: len(endpoint.taken) == 6)
    endpoint.assert_has(expected)


def test_the_endpoint_is_confirmed_by_a_sender(deliver: Deliver, tmp_path: Path) -> None:
    delivery = deliver()
    with pytest.raises(EndpointUnavailable, match="Nobody is there"):
        delivery.confirm(1)
    assert delivery.fallback == f"the spool in {tmp_path / 'spool'}"


@pytest.mark.parametrize(
    ("options", "topic", "complaint"),
    [
        ({}, "events", "name no broker"),
        ({"bootstrap.servers": "localhost:1", "no.such.option": "1"}, "events", 'No such configuration property: "no'),
        ({"bootstrap.servers": "localhost:1", "acks": "many"}, "events", "options are not valid"),
        ({"bootstrap.servers": "localhost:1"}, "..", "is not a valid topic name"),
        ({"bootstrap.servers": "localhost:1"}, "a/b", "is not a valid topic name"),
    ],
)
def test_an_invalid_kafka_configuration_raises_immediately(
    options: dict[str, str], topic: str, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidKafkaOptions, match=complaint):
        kafka_transport(options, topic, tmp_path)
