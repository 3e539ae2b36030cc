"""Whether the job slows down with what it has: the same batch into empty tables and into full ones."""

import gc
import time
from collections.abc import Iterator
from datetime import timedelta

from lineproof.bench.figures import Figure, at_most
from lineproof.bench.generate import STARTED, History, Record
from lineproof.bench.throughput import whole_job
from lineproof.bench.world import World

BATCH = 100_000
COLLECTIONS = 5
LATER = STARTED + timedelta(days=30)


def growth(world: World, events_before: int) -> Iterator[Figure]:
    """The time of one batch, and the heap it leaves behind."""
    empty = world.config(world.fill("bench.empty", _batch()), "empty")
    small = Figure("batch into empty tables", whole_job(world, empty), "s")
    small_heap = Figure("heap with empty tables", _heap_mb(world), "MB")
    world.remove("empty")
    yield small
    yield small_heap

    topic = world.fill("bench.growth", History().records(events_before))
    config = world.config(topic, "growth")
    whole_job(world, config)
    world.add(topic, _batch())
    seconds = whole_job(world, config)
    yield at_most(1.3, Figure(f"batch after {events_before:,} events", seconds, "s"), small)
    yield at_most(1.3, Figure(f"heap after {events_before:,} events", _heap_mb(world), "MB"), small_heap)
    world.remove("growth")


def _batch() -> Iterator[Record]:
    return History(seed=7).records(BATCH, LATER)


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
