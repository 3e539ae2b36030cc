"""Latency of one call that emits an event: our emitter, OpenLineage's own Kafka transport, and an empty call.

Each is measured with the broker up, stopped (SIGSTOP: it keeps connections open and does not answer) and killed. If a
call does not return within the timeout, the result says so and that measurement ends.

"not sent" builds and validates the same event and drops it. It shows which part of the tail comes from the machine.

    .venv/bin/python bench/emit.py [--calls 5000] [--json FILE]
"""

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any

import typer
from openlineage.client import OpenLineageClient
from openlineage.client import event_v2 as ol
from openlineage.client.transport.kafka import KafkaConfig, KafkaTransport
from openlineage.client.uuid import generate_new_uuid

from lineproof.bench.figures import Figure, below
from lineproof.cli.output import err, show
from lineproof.local.broker import Broker
from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.datasets import input_dataset
from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.composite import CompositeTransport
from lineproof.producers.transports.kafka import kafka_transport
from lineproof.topics.cluster import KafkaCluster

TOPIC = "bench.emit"
TIMEOUT_S = 10.0
LIMIT_US = 5000
WARM_UP = 10_000
COLUMNS = {f"column_{number}": "bigint" for number in range(8)}
INPUTS = [input_dataset(DatasetName("postgres://db:5432", f"shop.public.t{n}"), schema=COLUMNS) for n in range(2)]

Call = Callable[[], object]


def main(
    calls: Annotated[
        int, typer.Option(min=1000, help="Calls to time, of each kind in each state of the broker.")
    ] = 5000,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file as well.")] = None,
) -> None:
    """Measure how long one emit call takes, with the broker up, stopped and killed."""
    with tempfile.TemporaryDirectory() as directory:
        figures = list(_measure_all(Path(directory), calls))
    show(
        ["broker", "call", "calls", "p50 µs", "p99 µs", "p99.9 µs", "longest µs", "raised"],
        [[*figure.values()] for figure in figures],
    )
    if json_file:
        json_file.write_text(json.dumps(figures, indent=2))
    # Skip Python's exit handlers: OpenLineage's transport would wait for its broker there.
    os._exit(0)


def emission() -> Iterator[Figure]:
    """The p99.9 of all calls. Runs in its own process: OpenLineage's transport would keep this one from ending."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "figures.json")
        subprocess.run(
            [sys.executable, "-m", "lineproof.bench.emit", "--json", file], check=True, stdout=subprocess.DEVNULL
        )
        rows = json.loads(file.read_text())
    for row in rows:
        name, text, unit = f"emit: {row['call']}, broker {row['broker']}", str(row["p99.9"]), "µs at p99.9"
        value = float(text.removeprefix("> "))
        if row["call"] == "lineproof":
            yield below(LIMIT_US, name, value, unit)
        else:
            yield Figure(name, value, unit, is_more=text.startswith(">"))


def _measure_all(directory: Path, calls: int) -> Iterator[dict[str, Any]]:
    broker = Broker(directory / "broker")
    err.print("Starting a broker…")
    address = broker.start()
    try:
        KafkaCluster({"bootstrap.servers": address}).create_topics([TOPIC], 4, 1)
        _warm_up(address, directory / "spool" / "warm-up")
        gc.freeze()  # otherwise a collection scans all loaded modules during some of the calls
        for state, enter in (("up", _up), ("stopped", _stopped), ("killed", _killed)):
            with enter(broker):
                for name, call in _emit_calls(address, directory / "spool" / state):
                    err.print(f"Broker {state}: {name}…")
                    yield {"broker": state, "call": name, **_figures(*_time_calls(call, calls))}
    finally:
        broker.stop()


def _warm_up(address: str, spool: Path) -> None:
    """A broker that has just started still compiles its code, which takes CPU time from the other processes."""
    err.print("Warming up…")
    emitter = Emitter(kafka_transport({"bootstrap.servers": address}, TOPIC, spool), "bench")
    for _ in range(WARM_UP):
        emitter.run("job", inputs=INPUTS).start()
    emitter.close(60)


def _emit_calls(address: str, spool: Path) -> Iterator[tuple[str, Call]]:
    yield "empty", lambda: None
    dropping = Emitter(CompositeTransport([]), "bench")
    yield "not sent", lambda: dropping.run("job", inputs=INPUTS).start()
    transport = kafka_transport({"bootstrap.servers": address}, TOPIC, spool)
    emitter = Emitter(transport, "bench")
    yield "lineproof", lambda: emitter.run("job", inputs=INPUTS).start()
    emitter.close(0)
    config = KafkaConfig(config={"bootstrap.servers": address, "log_level": "0"}, topic=TOPIC)
    client = OpenLineageClient(transport=KafkaTransport(config))
    yield "openlineage-python", lambda: client.emit(_stock_event())


def _stock_event() -> ol.RunEvent:
    return ol.RunEvent(
        eventType=ol.RunState.START,
        eventTime=datetime.now(timezone.utc).isoformat(),
        run=ol.Run(runId=str(generate_new_uuid())),
        job=ol.Job("bench", "job"),
        inputs=list(INPUTS),
        producer="urn:lineproof:bench",
    )


def _time_calls(call: Call, calls: int) -> tuple[list[float], int]:
    """The seconds of each call (the last may be the timeout), and how many calls raised."""
    seconds: list[float] = []
    raised = 0
    done = threading.Event()

    def call_repeatedly() -> None:
        nonlocal raised
        for _ in range(calls):
            began = time.perf_counter()
            try:
                call()
            except Exception:
                raised += 1
            seconds.append(time.perf_counter() - began)
            if done.is_set():
                return
        done.set()

    threading.Thread(target=call_repeatedly, daemon=True).start()
    completed = -1
    while not done.wait(TIMEOUT_S):
        if len(seconds) == completed:
            done.set()
            return [*seconds, TIMEOUT_S], raised
        completed = len(seconds)
    return seconds, raised


def _figures(seconds: list[float], raised: int) -> dict[str, Any]:
    ordered = sorted(seconds)

    def quantile(share: float) -> int | str:
        value = ordered[min(len(ordered) - 1, int(share * len(ordered)))]
        return f"> {TIMEOUT_S * 1e6:.0f}" if value >= TIMEOUT_S else round(value * 1e6)

    return {
        "calls": len(ordered),
        "p50": quantile(0.5),
        "p99": quantile(0.99),
        "p99.9": quantile(0.999),
        "longest": quantile(1),
        "raised": raised,
    }


@contextmanager
def _up(_broker: Broker) -> Iterator[None]:
    yield


@contextmanager
def _stopped(broker: Broker) -> Iterator[None]:
    process = broker.process()
    assert process  # noqa: S101
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


@contextmanager
def _killed(broker: Broker) -> Iterator[None]:
    process = broker.process()
    assert process  # noqa: S101
    process.kill()
    process.wait(30)
    yield


if __name__ == "__main__":
    typer.run(main)
