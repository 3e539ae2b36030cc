"""What one emission costs its caller: this emitter, the stock OpenLineage Kafka transport and an empty call.

Three times in one run: with the broker up, stopped (SIGSTOP: it holds connections and does not answer) and killed. A
call that does not return within the patience is shown as such and its contender's turn ends there.

"not sent" is the same event, built and checked and dropped: what of the tail is the machine's own.

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
from lineproof.topics.cluster import Kafka

TOPIC = "bench.emit"
PATIENCE_S = 10.0
LIMIT_US = 5000
WARM_UP = 10_000
COLUMNS = {f"column_{number}": "bigint" for number in range(8)}
INPUTS = [input_dataset(DatasetName("postgres://db:5432", f"shop.public.t{n}"), schema=COLUMNS) for n in range(2)]

Call = Callable[[], object]


def main(
    calls: Annotated[
        int, typer.Option(min=1000, help="How many calls are timed, of each contender in each state.")
    ] = 5000,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here, too.")] = None,
) -> None:
    """Measure what one emission costs its caller, with the broker up, stopped and killed."""
    with tempfile.TemporaryDirectory() as directory:
        figures = list(_measure_all(Path(directory), calls))
    show(
        ["broker", "call", "calls", "p50 µs", "p99 µs", "p99.9 µs", "longest µs", "raised"],
        [[*r.values()] for r in figures],
    )
    if json_file:
        json_file.write_text(json.dumps(figures, indent=2))
    # Not through Python's exit: the stock transport would wait for its broker there.
    os._exit(0)


def emission() -> Iterator[Figure]:
    """The p99.9 of all calls, measured in a process of its own: the stock transport would not let this one end."""
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
        Kafka({"bootstrap.servers": address}).create_topics([TOPIC], 4, 1)
        _warm_up(address, directory / "spool" / "warm-up")
        gc.freeze()  # else Python looks through all of this program's modules for garbage in the midst of some call
        for state, enter in (("up", _up), ("stopped", _stopped), ("killed", _killed)):
            with enter(broker):
                for name, call in _contenders(address, directory / "spool" / state):
                    err.print(f"Broker {state}: {name}…")
                    yield {"broker": state, "call": name, **_figures(*_timed(call, calls))}
    finally:
        broker.stop()


def _warm_up(address: str, spool: Path) -> None:
    """A broker that has just started compiles its code, and takes the time for it from everyone else."""
    err.print("Warming up…")
    emitter = Emitter(kafka_transport({"bootstrap.servers": address}, TOPIC, spool), "bench")
    for _ in range(WARM_UP):
        emitter.run("job", inputs=INPUTS).start()
    emitter.close(60)


def _contenders(address: str, spool: Path) -> Iterator[tuple[str, Call]]:
    yield "empty", lambda: None
    nowhere = Emitter(CompositeTransport([]), "bench")
    yield "not sent", lambda: nowhere.run("job", inputs=INPUTS).start()
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


def _timed(call: Call, calls: int) -> tuple[list[float], int]:
    """The seconds of each call, the last of which may be the patience, and how many raised."""
    seconds: list[float] = []
    raised = 0
    done = threading.Event()

    def work() -> None:
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

    threading.Thread(target=work, daemon=True).start()
    seen = -1
    while not done.wait(PATIENCE_S):
        if len(seconds) == seen:
            done.set()
            return [*seconds, PATIENCE_S], raised
        seen = len(seconds)
    return seconds, raised


def _figures(seconds: list[float], raised: int) -> dict[str, Any]:
    ordered = sorted(seconds)

    def quantile(share: float) -> int | str:
        found = ordered[min(len(ordered) - 1, int(share * len(ordered)))]
        return f"> {PATIENCE_S * 1e6:.0f}" if found >= PATIENCE_S else round(found * 1e6)

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
