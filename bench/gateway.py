"""How many events a second the HTTP gateway stores, and how long a client waits until the broker has its event.

The server is `lineproof serve` in its own process, and so is the broker. The clients are threads of this process, on
the same machine, so they take a part of its processors.

    .venv/bin/python -m lineproof.bench.gateway [--seconds 10]
"""

import http.client
import json
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any

import typer

from lineproof.bench.figures import Figure
from lineproof.bench.server import server
from lineproof.cli.output import err, show
from lineproof.local.broker import Broker
from lineproof.local.server_process import RunningServer
from lineproof.topics.cluster import KafkaCluster

TOPIC = "bench.gateway"
CLIENTS = 8
BATCH = 100
RATE = 300
SECONDS = 10.0
STORED = (201, 204)

_DATASET = {
    "namespace": "postgres://db:5432",
    "facets": {
        "schema": {
            "_producer": "urn:lineproof:bench",
            "_schemaURL": "https://openlineage.io/spec/facets/1-1-1/SchemaDatasetFacet.json",
            "fields": [{"name": f"column_{number}", "type": "bigint"} for number in range(14)],
        }
    },
}

Post = Callable[[bytes], None]


def main(
    seconds: Annotated[float, typer.Option(min=1, help="How long each measurement takes.")] = SECONDS,
) -> None:
    """Measure the gateway with eight clients."""
    show(["benchmark", "measured"], [(figure.benchmark, figure.measured) for figure in gateway(seconds)])


def gateway(seconds: float = SECONDS) -> Iterator[Figure]:
    """Single events, arrays, and the latency at a steady rate."""
    with tempfile.TemporaryDirectory() as directory:
        broker = Broker(Path(directory) / "broker")
        options = {"bootstrap.servers": broker.start()}
        try:
            KafkaCluster(options).create_topics([TOPIC], 4, 1)
            settings = {"kafka.bootstrap.servers": options["bootstrap.servers"], "topics.events": TOPIC}
            with server(Path(directory), settings) as running:
                _measure(running, seconds / 2, 1)  # a broker that has just started still compiles its code
                requests = _measure(running, seconds, 1)
                yield Figure(f"gateway: {CLIENTS} clients", len(requests) / seconds, "acknowledged events/s")
                requests = _measure(running, seconds, BATCH)
                rate = len(requests) * BATCH / seconds
                yield Figure(f"gateway: {CLIENTS} clients, arrays of {BATCH}", rate, "acknowledged events/s")
                waits = sorted(_measure(running, seconds, 1, RATE))
                for share in (50, 99):
                    wait_ms = waits[len(waits) * share // 100] * 1000
                    yield Figure(f"gateway: answer at {RATE} events/s", wait_ms, f"ms at p{share}")
        finally:
            broker.stop()


def _measure(running: RunningServer, seconds: float, batch: int, rate: float | None = None) -> Sequence[float]:
    """The seconds from the time at which a request was due to its answer, of all requests in this time."""
    waits: list[float] = []
    failures: list[BaseException] = []
    begin = time.perf_counter() + 0.1

    def client(number: int) -> None:
        try:
            with _connection(running) as post:
                interval = CLIENTS / rate if rate else 0.0
                due = begin + interval * number / CLIENTS
                while due < begin + seconds:
                    time.sleep(max(0.0, due - time.perf_counter()))
                    post(_body(batch))
                    now = time.perf_counter()
                    waits.append(now - due)
                    due = due + interval if rate else now
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return waits


@contextmanager
def _connection(running: RunningServer) -> Iterator[Post]:
    host, _, port = running.url.removeprefix("http://").rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)

    def post(body: bytes) -> None:
        connection.request("POST", "/api/v1/lineage", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in STORED:
            raise RuntimeError(f"{answer.status}: {text.decode()}")

    try:
        yield post
    finally:
        connection.close()


def _body(batch: int) -> bytes:
    event = json.dumps(_event())
    if batch == 1:
        return event.encode()
    old = json.loads(event)["run"]["runId"]
    return f"[{','.join(event.replace(old, str(uuid.uuid4())) for _ in range(batch))}]".encode()


def _event() -> dict[str, Any]:
    """About 2 KB."""
    return {
        "eventType": "START",
        "eventTime": datetime.now(timezone.utc).isoformat(),
        "producer": "urn:lineproof:bench",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(uuid.uuid4())},
        "job": {"namespace": "bench", "name": "job"},
        "inputs": [{**_DATASET, "name": "shop.public.source"}],
        "outputs": [{**_DATASET, "name": "shop.public.target"}],
    }


if __name__ == "__main__":
    err.print(f"{CLIENTS} clients, events of {len(_body(1))} bytes")
    typer.run(main)
