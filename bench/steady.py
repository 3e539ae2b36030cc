"""Freshness under a steady load: the time from a record's Kafka timestamp to the commit that makes it visible.

Edges are visible once the query `graph` has finished the batch that took the event.
"""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from confluent_kafka import Producer

from lineproof.bench.environment import Environment
from lineproof.bench.figures import Figure, below, relative_to
from lineproof.bench.generate import History
from lineproof.local.endpoints import client_options
from lineproof.schemas.record import Record

EVENTS_A_SECOND = 1000
BURSTS_A_SECOND = 20
"""How often the sender wakes up: waking for each event would take a fifth of a core from the job."""
TRIGGER = "2s"
TIMEOUT_S = 120

Commit = tuple[float, list[str]]
"""When a commit became visible, and the files it added."""


def steady(environment: Environment, seconds: int) -> Iterator[Figure]:
    """Send at an even pace while the job runs; then read from the Delta logs when each record became visible."""
    records = list(History().records(seconds * EVENTS_A_SECOND))  # in advance: generating takes longer than sending
    topic = environment.create_topic("bench.steady", ())
    config = environment.config(topic, "steady", TRIGGER)
    job = environment.job(config)
    queries = [job.ingest.start(), job.curate.start_curate(), job.curate.start_graph()]
    environment.log(f"{EVENTS_A_SECOND} events/s for {seconds} s")
    try:
        sender = threading.Thread(target=_send, args=(environment, topic, records))
        sender.start()
        sender.join(seconds / 2)
        at_half = Figure("steady: memory after half of the time", environment.memory_mb(), "MB")
        sender.join()
        at_end = Figure("steady: memory at the end", environment.memory_mb(), "MB")
        _wait_for_all(Path(config.curate.tables), seconds * EVENTS_A_SECOND)
    finally:
        for query in queries:
            query.stop()
    archived = _archived(Path(config.curate.tables))
    yield from _figures("archive", 4, [(sent, visible - sent) for sent, visible in archived])
    yield from _figures("runs", 6, list(_first_visible(Path(config.curate.tables))))
    yield from _figures("edges", 30, list(_in_graph(Path(config.curate.tables), Path(config.curate.checkpoints))))
    yield at_half
    yield relative_to(at_end, at_half)
    environment.delete("steady")


def _send(environment: Environment, topic: str, records: Sequence[Record]) -> None:
    """Send at an even pace, with the same linger time as our emitter."""
    producer = Producer({**client_options(environment.settings), "compression.type": "zstd", "linger.ms": 20})
    burst = EVENTS_A_SECOND // BURSTS_A_SECOND
    began = time.monotonic()
    for first in range(0, len(records), burst):
        time.sleep(max(0.0, began + first / EVENTS_A_SECOND - time.monotonic()))
        for record in records[first : first + burst]:
            producer.produce(topic, key=record.key, value=record.value)
        producer.poll(0)
    producer.flush()


def _wait_for_all(tables: Path, events: int) -> None:
    """Wait until all events are in `lineage_events`, or until the timeout."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        files = (file for _, added in _commits(tables / "lineage_events") for file in added)
        if sum(pq.read_metadata(file).num_rows for file in files) >= events:
            return
        time.sleep(2)


def _archived(tables: Path) -> list[tuple[float, float]]:
    """For each record: its Kafka timestamp, and when it became visible."""
    return [
        (timestamp.timestamp(), visible)
        for visible, files in _commits(tables / "archive")
        for file in files
        for timestamp in _column(file, "timestamp")
    ]


def _first_visible(tables: Path) -> Iterator[tuple[float, float]]:
    """For each run: the Kafka timestamp of its first record, and how long it took until the run was visible."""
    invisible: dict[str, float] = {}
    for _, files in _commits(tables / "records"):
        for file in files:
            for run_id, timestamp in zip(_column(file, "run_id"), _column(file, "timestamp"), strict=True):
                invisible[run_id] = min(timestamp.timestamp(), invisible.get(run_id, float("inf")))
    for visible, files in _commits(tables / "runs"):
        for file in files:
            for run_id in _column(file, "run_id"):
                first = invisible.pop(run_id, None)
                if first is not None:
                    yield first, visible - first


def _in_graph(tables: Path, checkpoints: Path) -> Iterator[tuple[float, float]]:
    """For each event: its Kafka timestamp, and how long it took until the query `graph` had taken it."""
    batches = list(_graph_batches(checkpoints / "graph"))
    timestamps = {
        event_id: timestamp.timestamp()
        for _, files in _commits(tables / "records")
        for file in files
        for event_id, timestamp in zip(_column(file, "event_id"), _column(file, "timestamp"), strict=True)
    }
    for version, (_, files) in enumerate(_commits(tables / "lineage_events")):
        taken = next((time for end, time in batches if version < end), None)
        if taken is not None:
            for file in files:
                for event_id in _column(file, "event_id"):
                    yield timestamps[event_id], taken - timestamps[event_id]


def _graph_batches(checkpoint: Path) -> Iterator[tuple[int, float]]:
    """For each finished batch of graph: the first version of `lineage_events` that it did not read, and its end."""
    for commit in sorted((checkpoint / "commits").glob("[0-9]*"), key=lambda path: int(path.name)):
        offset = json.loads((checkpoint / "offsets" / commit.name).read_text().splitlines()[-1])
        has_more = offset["index"] >= 0
        yield offset["reservoirVersion"] + has_more, commit.stat().st_mtime


def _column(file: str, name: str) -> list[Any]:
    values: list[Any] = pq.read_table(file, columns=[name], partitioning=None)[name].to_pylist()
    return values


def _commits(table: Path) -> Iterator[Commit]:
    for log in sorted((table / "_delta_log").glob("*.json")):
        actions = map(json.loads, log.read_text().splitlines())
        yield log.stat().st_mtime, [str(table / action["add"]["path"]) for action in actions if "add" in action]


def _figures(table: str, limit: float, delays: list[tuple[float, float]]) -> Iterator[Figure]:
    def quantile(share: float, measured: list[tuple[float, float]]) -> float:
        ordered = sorted(delay for _, delay in measured)
        return ordered[int(share * (len(ordered) - 1))]

    in_order = sorted(delays)
    half = len(in_order) // 2
    yield below(limit, f"steady: p95 to {table}", quantile(0.95, in_order), "s")
    yield Figure(f"steady: p50 to {table}", quantile(0.5, in_order), "s")
    yield Figure(f"steady: p95 to {table}, first half", quantile(0.95, in_order[:half]), "s")
    yield Figure(f"steady: p95 to {table}, second half", quantile(0.95, in_order[half:]), "s")
