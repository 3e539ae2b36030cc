"""Whether the job slows down as its tables grow: the same batch into empty tables and into full ones.

Then the unkind case: a batch that is expensive to take, into tables of such events.
"""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread

from lineproof.bench.adverse import AdverseHistory
from lineproof.bench.environment import Environment
from lineproof.bench.figures import Figure, at_most, relative_to
from lineproof.bench.generate import STARTED, History
from lineproof.bench.throughput import whole_job
from lineproof.schemas.record import Record
from lineproof.streaming.config import JobConfig

BATCH = 100_000
COLLECTIONS = 5
SAMPLE_EVERY_S = 0.1
LATER = STARTED + timedelta(days=30)


def growth(environment: Environment, events_before: int) -> Iterator[Figure]:
    """Measure the time of a batch, the heap in use after it, and the memory of the process while it runs."""
    topic = environment.create_topic("bench.empty", _records())
    with_empty = list(_measure_batch(environment, environment.config(topic, "empty"), "with empty tables"))
    environment.delete("empty")
    yield from with_empty

    topic = environment.create_topic("bench.growth", History().records(events_before))
    config = environment.config(topic, "growth")
    whole_job(environment, config)
    environment.send(topic, _records())
    with_full = _measure_batch(environment, config, f"after {events_before:,} events")
    measured = list(with_full)
    yield from (at_most(1.3, full, empty) for full, empty in zip(measured, with_empty, strict=True))
    environment.delete("growth")
    yield from _adverse(environment, events_before, measured)


def _adverse(environment: Environment, events_before: int, kind: list[Figure]) -> Iterator[Figure]:
    """The same with random run ids, late events, uneven partitions and a dead letter in each batch."""
    history = AdverseHistory(events_before, BATCH)
    topic = environment.create_topic("bench.adverse", history.first())
    config = environment.config(topic, "adverse")
    whole_job(environment, config)
    environment.send(topic, history.last(LATER))
    time, memory, heap = _measure_batch(environment, config, f"after {events_before:,} adverse events")
    yield at_most(1.5, time, kind[0])
    yield relative_to(memory, kind[1])
    yield relative_to(heap, kind[2])
    environment.delete("adverse")


def _records() -> Iterator[Record]:
    return History(seed=7).records(BATCH, LATER)


def _measure_batch(environment: Environment, config: JobConfig, when: str) -> Iterator[Figure]:
    with _memory_samples_mb(environment) as samples:
        seconds = whole_job(environment, config)
    yield Figure(f"a batch's time, {when}", seconds, "s")
    yield Figure(f"a batch's memory, {when}", max(samples), "MB")
    yield Figure(f"heap left behind, {when}", _heap_mb(environment), "MB")


@contextmanager
def _memory_samples_mb(environment: Environment) -> Iterator[list[float]]:
    """Sample the memory of the JVM until the block ends."""
    finished = Event()
    samples: list[float] = []

    def sample() -> None:
        while True:
            samples.append(environment.memory_mb())
            if finished.wait(SAMPLE_EVERY_S):
                return

    sampler = Thread(target=sample)
    sampler.start()
    try:
        yield samples
    finally:
        finished.set()
        sampler.join()


def _heap_mb(environment: Environment) -> float:
    """The heap in use. One collection is not enough: Spark frees some memory only after one has found it unused."""
    gc.collect()
    runtime = environment.spark._jvm.java.lang.Runtime.getRuntime()  # type: ignore[union-attr]
    samples: list[float] = []
    for _ in range(COLLECTIONS):
        runtime.gc()
        samples.append(float(runtime.totalMemory() - runtime.freeMemory()) / 2**20)
        time.sleep(0.5)
    return min(samples)
