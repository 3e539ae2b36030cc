"""How fresh the tables are under a steady load: from the moment Kafka took a record to the commit that shows it."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from confluent_kafka import Producer

from lineproof.bench.figures import Figure, below, of
from lineproof.bench.generate import History, Record
from lineproof.bench.world import World
from lineproof.local.endpoints import client_options

EVENTS_A_SECOND = 1000
BURSTS_A_SECOND = 20
"""So often the sender wakes up: once an event would take a fifth of a core from what is measured."""
TRIGGER = "2s"
PATIENCE_S = 120

Commit = tuple[float, list[str]]
"""When a commit was there, and the files it added."""


def steady(world: World, seconds: int) -> Iterator[Figure]:
    """Produce at an even pace while the job runs; then read from the tables' logs when what became visible."""
    records = list(History().records(seconds * EVENTS_A_SECOND))  # in advance: to make one takes longer than to send it
    topic = world.fill("bench.steady", ())
    config = world.config(topic, "steady", TRIGGER)
    job = world.job(config)
    queries = [job.start_ingest(), job.start_curate(), job.start_graph()]
    world.say(f"{EVENTS_A_SECOND} events/s for {seconds} s")
    try:
        sender = threading.Thread(target=_send, args=(world, topic, records))
        sender.start()
        sender.join(seconds / 2)
        at_half = Figure("steady: memory after half of the time", world.memory_mb(), "MB")
        sender.join()
        at_end = Figure("steady: memory at the end", world.memory_mb(), "MB")
        _await_all(Path(config.tables), seconds * EVENTS_A_SECOND)
    finally:
        for query in queries:
            query.stop()
    archived = _archived(Path(config.tables))
    yield from _figures("archive", 4, [(at, seen - at) for at, seen in archived])
    yield from _figures("runs", 15, list(_first_shown(Path(config.tables))))
    yield at_half
    yield of(at_end, at_half)
    world.remove("steady")


def _send(world: World, topic: str, records: Sequence[Record]) -> None:
    """At an even pace, as a producer that lets records wait for each other as long as our emitter does."""
    producer = Producer({**client_options(world.settings), "compression.type": "zstd", "linger.ms": 20})
    burst = EVENTS_A_SECOND // BURSTS_A_SECOND
    began = time.monotonic()
    for first in range(0, len(records), burst):
        time.sleep(max(0.0, began + first / EVENTS_A_SECOND - time.monotonic()))
        for key, value in records[first : first + burst]:
            producer.produce(topic, key=key, value=value)
        producer.poll(0)
    producer.flush()


def _await_all(tables: Path, events: int) -> None:
    """Until all is in `lineage_events`, or nothing more can be expected."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        files = (file for _, added in _commits(tables / "lineage_events") for file in added)
        if sum(pq.read_metadata(file).num_rows for file in files) >= events:
            return
        time.sleep(2)


def _archived(tables: Path) -> list[tuple[float, float]]:
    """Of every record: when Kafka took it, and when it was visible."""
    return [
        (at.timestamp(), seen)
        for seen, files in _commits(tables / "archive")
        for file in files
        for at in _column(file, "timestamp")
    ]


def _first_shown(tables: Path) -> Iterator[tuple[float, float]]:
    """Of every run: when Kafka took its first record, and how long after that the run was visible."""
    unseen: dict[str, float] = {}
    for _, files in _commits(tables / "records"):
        for file in files:
            for run_id, at in zip(_column(file, "run_id"), _column(file, "timestamp"), strict=True):
                unseen[run_id] = min(at.timestamp(), unseen.get(run_id, float("inf")))
    for seen, files in _commits(tables / "runs"):
        for file in files:
            for run_id in _column(file, "run_id"):
                first = unseen.pop(run_id, None)
                if first is not None:
                    yield first, seen - first


def _column(file: str, name: str) -> list[Any]:
    values: list[Any] = pq.read_table(file, columns=[name], partitioning=None)[name].to_pylist()
    return values


def _commits(table: Path) -> Iterator[Commit]:
    for log in sorted((table / "_delta_log").glob("*.json")):
        actions = map(json.loads, log.read_text().splitlines())
        yield log.stat().st_mtime, [str(table / action["add"]["path"]) for action in actions if "add" in action]


def _figures(table: str, limit: float, delays: list[tuple[float, float]]) -> Iterator[Figure]:
    def quantile(share: float, of: list[tuple[float, float]]) -> float:
        ordered = sorted(delay for _, delay in of)
        return ordered[int(share * (len(ordered) - 1))]

    in_order = sorted(delays)
    half = len(in_order) // 2
    yield below(limit, f"steady: p95 to {table}", quantile(0.95, in_order), "s")
    yield Figure(f"steady: p50 to {table}", quantile(0.5, in_order), "s")
    yield Figure(f"steady: p95 to {table}, first half", quantile(0.95, in_order[:half]), "s")
    yield Figure(f"steady: p95 to {table}, second half", quantile(0.95, in_order[half:]), "s")
