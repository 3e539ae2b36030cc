"""Whether the job slows down with what it has: the same batch into empty tables and into full ones."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread

from lineproof.bench.figures import Figure, at_most
from lineproof.bench.generate import STARTED, History, Record
from lineproof.bench.throughput import whole_job
from lineproof.bench.world import World
from lineproof.streaming.job import JobConfig

BATCH = 100_000
COLLECTIONS = 5
LOOK_EVERY_SECONDS = 0.1
LATER = STARTED + timedelta(days=30)


def growth(world: World, events_before: int) -> Iterator[Figure]:
    """The time of one batch, the heap it leaves behind, and the memory of the whole process while it ran."""
    topic = world.fill("bench.empty", _batch())
    with_empty = list(_one_batch(world, world.config(topic, "empty"), "with empty tables"))
    world.remove("empty")
    yield from with_empty

    topic = world.fill("bench.growth", History().records(events_before))
    config = world.config(topic, "growth")
    whole_job(world, config)
    world.add(topic, _batch())
    with_full = _one_batch(world, config, f"after {events_before:,} events")
    yield from (at_most(1.3, full, empty) for full, empty in zip(with_full, with_empty, strict=True))
    world.remove("growth")


def _batch() -> Iterator[Record]:
    return History(seed=7).records(BATCH, LATER)


def _one_batch(world: World, config: JobConfig, when: str) -> Iterator[Figure]:
    with _sizes_mb(world) as sizes:
        seconds = whole_job(world, config)
    yield Figure(f"a batch's time, {when}", seconds, "s")
    yield Figure(f"a batch's memory, {when}", max(sizes), "MB")
    yield Figure(f"heap left behind, {when}", _heap_mb(world), "MB")


@contextmanager
def _sizes_mb(world: World) -> Iterator[list[float]]:
    """The sizes that the JVM is seen to have meanwhile."""
    is_over = Event()
    sizes: list[float] = []

    def look() -> None:
        while True:
            sizes.append(world.memory_mb())
            if is_over.wait(LOOK_EVERY_SECONDS):
                return

    watcher = Thread(target=look)
    watcher.start()
    try:
        yield sizes
    finally:
        is_over.set()
        watcher.join()


def _heap_mb(world: World) -> float:
    """What stays. Spark lets go of what a collection found to be unused a little later, so one is not enough."""
    gc.collect()
    runtime = world.spark._jvm.java.lang.Runtime.getRuntime()  # type: ignore[union-attr]
    sizes: list[float] = []
    for _ in range(COLLECTIONS):
        runtime.gc()
        sizes.append(float(runtime.totalMemory() - runtime.freeMemory()) / 2**20)
        time.sleep(0.5)
    return min(sizes)
