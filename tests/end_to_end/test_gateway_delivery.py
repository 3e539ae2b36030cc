"""The gateway without a broker, with a broker that is killed, and at its own end."""

import asyncio
import threading
import time
from collections.abc import Sized
from pathlib import Path

import httpx
import pytest

from lineproof.local.broker import Broker
from lineproof.producers.gateway.topic_writer import Answer, Outcome, TopicWriter
from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.schemas.envelope import Envelope, decode
from lineproof.schemas.headers import PRINCIPAL
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.server import add_key, number, payloads, server, size
from tests.end_to_end.tools import consumed
from tests.events import payload


@pytest.fixture
def own_broker(settings: Settings, tmp_path: Path) -> tuple[Broker, Settings]:
    """A broker that the test may stop."""
    broker = Broker(tmp_path / "broker")
    alone = settings.model_copy(update={"kafka": {"bootstrap.servers": broker.start()}})
    KafkaCluster(alone.kafka).create_topics([alone.topics.events], 2, 1)
    return broker, alone


def test_without_a_broker_events_are_refused(own_broker: tuple[Broker, Settings]) -> None:
    broker, settings = own_broker
    try:
        with server(settings, "--set=gateway.acknowledge_timeout=2s") as running, httpx.Client(timeout=60) as client:
            url = f"{running.url}/api/v1/lineage"
            assert client.post(url, content=number(1)).status_code == 201
            broker.stop()
            answer = client.post(url, content=number(2))
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
            assert answer.json()["code"] == "broker_unavailable"
            answer = client.post(url, content=b"[" + number(2) + b"]")
            assert (answer.status_code, answer.json()["summary"]["retriable"]) == (503, 1)
            assert client.get(f"{running.url}/readyz").status_code == 503
            assert client.get(f"{running.url}/livez").status_code == 200
            broker.start()
            deadline = time.monotonic() + 60
            while (answer := client.post(url, content=number(3))).status_code != 201:
                assert time.monotonic() < deadline, answer.text
            assert {number(1), number(3)} <= set(payloads(settings, size(settings)))
    finally:
        broker.stop()


def test_without_a_broker_events_are_spooled_and_delivered_later(own_broker: tuple[Broker, Settings]) -> None:
    broker, settings = own_broker
    key = add_key(settings, "team-a")
    options = ["--set=gateway.acknowledge_timeout=2s", "--set=gateway.when_broker_is_down=spool"]
    try:
        with server(settings, *options) as running, httpx.Client(timeout=60, headers={"X-Api-Key": key}) as client:
            url = f"{running.url}/api/v1/lineage"
            assert client.post(url, content=number(0)).status_code == 201
            broker.stop()
            assert [client.post(url, content=number(at)).status_code for at in range(1, 5)] == [202] * 4
            assert client.post(url, content=b"[" + number(5) + b"," + number(6) + b"]").status_code == 202
            assert client.get(f"{running.url}/readyz").json()["status"] == "spooling"
            running.process.kill()  # the next process delivers them
            running.process.wait()
        broker.start()
        with server(settings, *options) as running, httpx.Client(timeout=60, headers={"X-Api-Key": key}) as client:
            messages = consumed(settings, settings.topics.events, 7)
            assert {message.headers()[0][1] for message in messages} == {b"team-a"}
            opened = [decode(message.value()) for message in messages]
            assert {one.payload for one in opened if isinstance(one, Envelope)} == {number(at) for at in range(7)}
            deadline = time.monotonic() + 60
            while client.post(f"{running.url}/api/v1/lineage", content=number(7)).status_code != 201:
                assert time.monotonic() < deadline
    finally:
        broker.stop()


@pytest.mark.parametrize("when_down", ["refuse", "spool"])
def test_what_was_answered_with_success_is_there_after_the_broker_was_killed(
    own_broker: tuple[Broker, Settings], when_down: str
) -> None:
    broker, settings = own_broker
    stored: set[bytes] = set()
    without_broker: list[int] = []
    is_stopping = threading.Event()
    options = ["--set=gateway.acknowledge_timeout=3s", f"--set=gateway.when_broker_is_down={when_down}"]
    try:
        with server(settings, *options) as running:

            def send(worker: int) -> None:
                with httpx.Client(timeout=60) as client:
                    for at in range(1_000_000):
                        if is_stopping.is_set():
                            return
                        body = number(worker * 1_000_000 + at)
                        status = client.post(f"{running.url}/api/v1/lineage", content=body).status_code
                        if status in (201, 202):
                            stored.add(body)
                        if status != 201:
                            without_broker.append(status)

            def wait_for_more(answers: Sized, count: int) -> None:
                expected, deadline = len(answers) + count, time.monotonic() + 60
                while len(answers) < expected:
                    assert time.monotonic() < deadline
                    time.sleep(0.05)

            threads = [threading.Thread(target=send, args=(worker,)) for worker in range(4)]
            for thread in threads:
                thread.start()
            try:
                for _ in range(2):
                    wait_for_more(stored, 100)
                    process = broker.process()
                    assert process
                    process.kill()
                    process.wait()
                    wait_for_more(without_broker, 1)
                    broker.start()
                wait_for_more(stored, 100)
            finally:
                is_stopping.set()
                for thread in threads:
                    thread.join()
            assert running.stop() == 0
        assert {*without_broker} <= {503 if when_down == "refuse" else 202}
        assert stored <= set(payloads(settings, size(settings)))
    finally:
        broker.stop()


def test_sigterm_ends_what_was_begun(settings: Settings) -> None:
    """Every event that is answered with 201 is on the topic, and no request that was begun fails."""
    answers: list[int] = []
    with server(settings) as running:

        def send(worker: int) -> None:
            with httpx.Client() as client:
                for at in range(10_000):
                    try:
                        body = number(at, eventType="OTHER", run={"runId": f"{worker:08}-0000-4000-8000-000000000000"})
                        answers.append(client.post(f"{running.url}/api/v1/lineage", content=body).status_code)
                    except httpx.TransportError:
                        return

        threads = [threading.Thread(target=send, args=(worker,)) for worker in range(8)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 60
        while len(answers) < 200:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert running.stop() == 0
        for thread in threads:
            thread.join()
    assert set(answers) == {201}
    assert size(settings) == len(answers)


def test_a_producer_that_is_broken_is_replaced(settings: Settings, tmp_path: Path) -> None:
    """librdkafka's producer sends nothing more after a fatal error, which cannot be provoked from here."""

    async def store_twice() -> list[Answer]:
        writer = TopicWriter(settings.kafka, settings.topics.events, tmp_path)
        writer.start()
        first = await writer.store([SpooledRecord(b"key", b"{}")], None)
        writer._is_broken = True
        second = await writer.store([SpooledRecord(b"key", b"{}")], "team-a")
        assert not writer._is_broken
        assert writer.close()
        return first + second

    assert asyncio.run(store_twice()) == [Answer(Outcome.STORED), Answer(Outcome.STORED)]
    assert [message.headers() for message in consumed(settings, settings.topics.events, 2)] == [
        None,
        [(PRINCIPAL, b"team-a")],
    ]


def test_a_topic_that_does_not_exist_is_no_place_for_events(settings: Settings, tmp_path: Path) -> None:
    missing = settings.model_copy(
        update={"topics": settings.topics.model_copy(update={"events": "missing"}), "home": tmp_path / "other"}
    )
    with server(missing, "--set=gateway.acknowledge_timeout=10s") as running, httpx.Client(timeout=60) as client:
        answer = client.post(f"{running.url}/api/v1/lineage", content=number(1))
        assert (answer.status_code, answer.json()["code"]) == (503, "broker_unavailable")
        assert client.get(f"{running.url}/readyz").status_code == 503


def test_a_record_that_the_topic_refuses_is_too_large(settings: Settings) -> None:
    large = payload(job={"namespace": "tests", "name": "job", "facets": {"x": {"text": "x" * 21_000_000}}})
    with server(settings, "--set=gateway.max_body_bytes=30000000") as running, httpx.Client(timeout=60) as client:
        answer = client.post(f"{running.url}/api/v1/lineage", content=large)
        assert (answer.status_code, answer.json()["code"]) == (413, "record_too_large")
        assert client.post(f"{running.url}/api/v1/lineage", content=number(1)).status_code == 201
