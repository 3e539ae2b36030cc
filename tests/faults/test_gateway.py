"""Gateway, broker and job are killed in turn while clients send: every acknowledged event is in the tables, none twice.

`make faults` kills each of them five times. FAULT_ROUNDS sets another number, as CI does.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import httpx
import pytest
from deltalake import DeltaTable

from lineproof.local.broker import Broker
from lineproof.schemas.envelope import event_id
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.server import payloads, server, size
from tests.end_to_end.tools import assert_archive_is_topic, free_port
from tests.events import payload
from tests.jvm_options import SPARK_OPTIONS

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "5"))
CLIENTS = 4
PAUSE_S = 0.02
"""Between two requests of a client: the machine also starts JVMs."""
EVENTS_BETWEEN_KILLS = 200
PATIENCE_S = 180
STORED = (201, 202, 204)
OPTIONS = ("--set=gateway.acknowledge_timeout=3s", "--set=gateway.when_broker_is_down=spool")

pytestmark = pytest.mark.faults


class Clients:
    """Clients of the gateway. Each sends the events of one run after the other, again until they are acknowledged."""

    def __init__(self, url: str) -> None:
        self.sent: set[str] = set()
        self.acknowledged: set[str] = set()
        self.spooled = 0
        self.failed = 0
        self._url = f"{url}/api/v1/lineage"
        self._is_stopping = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(number,)) for number in range(CLIENTS)]
        self._errors: list[BaseException] = []

    def __enter__(self) -> "Clients":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_stopping.set()
        for thread in self._threads:
            thread.join()
        assert not self._errors, self._errors

    def check(self) -> None:
        assert not self._errors, self._errors

    def _work(self, number: int) -> None:
        try:
            with httpx.Client(timeout=60) as client:
                for at in count():
                    run = {"runId": f"{number:08x}-0000-4000-8000-{at:012x}"}
                    start, end = (payload(run=run, eventType=kind) for kind in ("START", "COMPLETE"))
                    together = b"[" + start + b"," + end + b"]"
                    bodies = {together: [start, end]} if at % 2 else {start: [start], end: [end]}
                    if not all(self._send(client, body, events) for body, events in bodies.items()):
                        return
        except BaseException as error:
            self._errors.append(error)

    def _send(self, client: httpx.Client, body: bytes, events: list[bytes]) -> bool:
        """Send until it is acknowledged, or the test ends."""
        ids = {event_id(event) for event in events}
        self.sent |= ids
        while not self._is_stopping.wait(PAUSE_S):
            try:
                answer = client.post(self._url, content=body)
            except httpx.TransportError:  # the gateway has been killed, perhaps after it has stored the events
                self.failed += 1
                continue
            if answer.status_code in STORED:
                self.acknowledged |= ids
                self.spooled += answer.status_code == 202
                return True
            assert answer.status_code == 503, answer.text
            self.failed += 1
        return False


class Job:
    """The streaming job as it runs in production, in processes that can be killed."""

    def __init__(self, settings: Settings, log: Path) -> None:
        self._archive = f"{settings.tables_path}/archive"
        self._log = log
        chosen = {
            "home": settings.home,
            "topics.events": settings.topics.events,
            "topics.dead_letters": settings.topics.dead_letters,
            "kafka.bootstrap.servers": settings.kafka["bootstrap.servers"],
            **dict.fromkeys(("topics.runs", "topics.violations", "topics.quality"), ""),
            **SPARK_OPTIONS,
            "trigger": "500ms",
            "graph_trigger": "1s",
        }
        self._options = [f"--set={name}={value}" for name, value in chosen.items()]
        self.restarts = 0
        self.process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        with self._log.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "lineproof", "job", *self._options],
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def batches(self) -> int:
        """How many batches are in the archive."""
        return DeltaTable(self._archive).version() if DeltaTable.is_deltatable(self._archive) else 0

    def restart_if_ended(self) -> None:
        if self.process.poll() is not None:
            self.restarts += 1
            self.process = self._start()

    def assert_running(self) -> None:
        assert self.process.poll() is None, self._log.read_text()

    def kill(self) -> None:
        """Kill Python and the JVM."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)


def wait_until(condition: Callable[[], bool], check: Callable[[], object], pause_s: float = 0.05) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "the condition never became true"
        check()
        time.sleep(pause_s)


def wait_for_more(counter: Callable[[], int], more: int, check: Callable[[], object]) -> None:
    expected = counter() + more
    wait_until(lambda: counter() >= expected, check)


def test_acknowledged_events_are_in_the_tables_once_whatever_is_killed(settings: Settings, tmp_path: Path) -> None:
    broker = Broker(tmp_path / "broker")
    settings = settings.model_copy(update={"kafka": {"bootstrap.servers": broker.start()}})
    KafkaCluster(settings.kafka).create_topics([settings.topics.events, settings.topics.dead_letters], 2, 1)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    gateways = gateway_processes(settings, port)
    job = Job(settings, tmp_path / "job.log")
    try:
        next(gateways)
        with Clients(url) as clients:

            def wait_for_events() -> None:
                wait_for_more(lambda: len(clients.acknowledged), EVENTS_BETWEEN_KILLS, clients.check)

            for _ in range(ROUNDS):
                wait_for_events()
                next(gateways)

                wait_for_events()
                process = broker.process()
                assert process
                process.kill()
                process.wait()
                wait_for_more(lambda: clients.spooled, 1, clients.check)
                broker.start()

                wait_for_more(job.batches, 2, job.restart_if_ended)  # it may have ended without its broker
                job.kill()
                job.restart_if_ended()
            wait_for_events()
        wait_until(lambda: is_stored(url), clients.check)
        records = size(settings)
        assert clients.acknowledged <= {event_id(body) for body in payloads(settings, records)}
        wait_until(lambda: is_complete(settings, records), job.assert_running, pause_s=2)
        assert job.stop() == 0
        gateways.close()
        assert_in_tables(settings, clients)
        assert_archive_is_topic(settings)
    finally:
        gateways.close()
        if job.process.poll() is None:
            job.kill()
        broker.stop()
    print(
        f"{3 * ROUNDS} kills: {len(clients.acknowledged)} events acknowledged, {records} records; "
        f"{clients.spooled} requests spooled, {clients.failed} repeated; {job.restarts} starts of the job"
    )


def gateway_processes(settings: Settings, port: int) -> Generator[None, None, None]:
    """Each step kills the running gateway and starts another on the same port; closing stops it with SIGTERM."""
    while True:
        with ExitStack() as stack:
            running = stack.enter_context(server(settings, "--port", str(port), *OPTIONS))
            try:
                yield
            except GeneratorExit:
                assert running.stop() == 0
                raise
            running.process.kill()
            running.process.wait()


def is_stored(url: str) -> bool:
    """Whether another event is stored at once, which means that nothing waits in the spool."""
    return httpx.post(f"{url}/api/v1/lineage", content=payload(), timeout=60).status_code == 201


def is_complete(settings: Settings, records: int) -> bool:
    """Whether the job has read so many records, and written what they say to the tables of events and runs."""
    tables = Tables(settings.tables_path)
    [(read, different)] = tables.query("SELECT count(*), count(DISTINCT event_id) FROM records").rows
    [(events, run_ids)] = tables.query("SELECT count(*), count(DISTINCT run_id) FROM lineage_events").rows
    [(runs,)] = tables.query("SELECT count(*) FROM runs").rows
    return bool(read == records and events >= different and runs >= run_ids)


def assert_in_tables(settings: Settings, clients: Clients) -> None:
    tables = Tables(settings.tables_path)
    found = {row[0] for row in tables.query("SELECT event_id FROM lineage_events").rows}
    assert clients.acknowledged <= found
    assert found <= clients.sent | {event_id(payload())}
    for table, key in (("lineage_events", "event_id"), ("runs", "run_id")):
        [(rows, different)] = tables.query(f"SELECT count(*), count(DISTINCT {key}) FROM {table}").rows
        assert rows == different, f"{table} has rows twice"
    assert tables.query("SELECT count(*) FROM dead_letters").rows == [(0,)]
    # A run is complete if both of its events were acknowledged. Each client's last run may not be.
    [(incomplete,)] = tables.query("SELECT count(*) FROM runs WHERE state <> 'COMPLETED'").rows
    assert incomplete <= CLIENTS + 1
