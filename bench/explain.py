"""Where the time of a batch goes: its parts one after the other, over one archive."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.bench.generate import History
from lineproof.bench.world import World, seconds_of
from lineproof.streaming.delta.store import Store
from lineproof.streaming.job import CURATED, GRAPH
from lineproof.streaming.stages import decode
from lineproof.streaming.stages.batch import batch_of
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.stages.graph import graph_batch_of
from lineproof.streaming.tables import archive, lineage_events, records

ROUNDS = 2
"""The last one counts: in the first, the JVM compiles."""


@dataclass(frozen=True)
class Part:
    """A part of the work, and what it took."""

    name: str
    seconds: float


def explain(world: World) -> Iterator[Part]:
    """Ingest, then all that curate and graph do with one batch. Tables are written one at a time, into empty ones."""
    topic = world.fill("bench.explain", History().records(world.events))
    parts: list[Part] = []
    for number in range(1, ROUNDS + 1):
        world.say(f"round {number} of {ROUNDS}")
        parts = list(_round(world, topic))
        world.remove("explain")
    yield from parts


def _round(world: World, topic: str) -> Iterator[Part]:
    config = world.config(topic, "explain")
    job = world.job(config)
    yield Part("ingest: topic to archive", seconds_of(job.start_ingest))
    store = Store(world.spark, config.tables, "explain", 0)
    archived = store.read(archive.TABLE)
    reading = _seconds(lambda: _run(archived))
    opening = _seconds(lambda: _run(_opened(archived)))
    finding = _seconds(lambda: _run(facts(archived, {})))
    yield Part("read the archive", reading)
    yield Part("open envelopes, compute event ids", max(0.0, opening - reading))
    yield Part("check the JSON, take out the facts", max(0.0, finding - opening))
    began = perf_counter()
    with batch_of(facts(archived, {}), archived) as batch:
        yield Part("keep the facts", max(0.0, perf_counter() - began - finding))
        for module in CURATED:
            yield Part(f"write {module.TABLE.name}", _seconds(partial(module.write, batch, store)))
    began = perf_counter()
    with graph_batch_of(store.read(lineage_events.TABLE)) as graph_batch:
        _run(graph_batch.sightings)
        yield Part("read events, open facets that are new", perf_counter() - began)
        for module in GRAPH:
            yield Part(f"write {module.TABLE.name}", _seconds(partial(module.write, graph_batch, store)))
    nothing = world.spark.createDataFrame([], records.TABLE.struct)
    later = Store(world.spark, config.tables, "explain", 1)
    yield Part("of each write: an empty commit", _seconds(lambda: later.append(records.TABLE, nothing)))


def _opened(archived: DataFrame) -> DataFrame:
    payload = decode.payload(F.col("value"), decode.envelope(F.col("value"), {}))
    return archived.select(payload.alias("payload")).withColumn("event_id", decode.event_id(F.col("payload")))


def _run(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _seconds(act: Callable[[], None]) -> float:
    began = perf_counter()
    act()
    return perf_counter() - began
