"""Show where the time of a batch goes: run its steps one after the other over the same archive."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.bench.environment import Environment, time_query
from lineproof.bench.generate import History
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages import decode
from lineproof.streaming.stages.batch import open_batch
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.stages.graph import open_graph_batch
from lineproof.streaming.tables import archive, lineage_events, records
from lineproof.streaming.tables.registry import CURATED, GRAPH

ROUNDS = 2
"""The last round counts: in the first one, the JVM still compiles."""


@dataclass(frozen=True)
class Step:
    """A step of a batch, and how long it took."""

    name: str
    seconds: float


def explain(environment: Environment) -> Iterator[Step]:
    """Ingest, then all steps of curate and graph for one batch. Each table is written alone, into an empty table."""
    topic = environment.create_topic("bench.explain", History().records(environment.events))
    steps: list[Step] = []
    for number in range(1, ROUNDS + 1):
        environment.log(f"round {number} of {ROUNDS}")
        steps = list(_round(environment, topic))
        environment.delete("explain")
    yield from steps


def _round(environment: Environment, topic: str) -> Iterator[Step]:
    config = environment.config(topic, "explain")
    job = environment.job(config)
    yield Step("ingest: topic to archive", time_query(job.ingest.start))
    store = BatchWriter(environment.spark, config.curate.tables, "explain", 0)
    archived = store.read(archive.TABLE)
    reading = _seconds(lambda: _run(archived))
    decoding = _seconds(lambda: _run(_decoded(archived)))
    extracting = _seconds(lambda: _run(facts(archived, {})))
    yield Step("read the archive", reading)
    yield Step("decode envelopes, compute event ids", max(0.0, decoding - reading))
    yield Step("check the JSON, extract the facts", max(0.0, extracting - decoding))
    began = perf_counter()
    with open_batch(facts(archived, {})) as batch:
        yield Step("store the facts", max(0.0, perf_counter() - began - extracting))
        for module in CURATED:
            yield Step(f"write {module.TABLE.name}", _seconds(partial(module.write, batch, store)))
    began = perf_counter()
    with open_graph_batch(store.read(lineage_events.TABLE)) as graph_batch:
        _run(graph_batch.observations)
        yield Step("read events, parse new facets", perf_counter() - began)
        for graph_module in GRAPH:
            yield Step(f"write {graph_module.TABLE.name}", _seconds(partial(graph_module.write, graph_batch, store)))
    empty = environment.spark.createDataFrame([], records.TABLE.struct)
    later = BatchWriter(environment.spark, config.curate.tables, "explain", 1)
    yield Step("share of each write: an empty commit", _seconds(lambda: later.append(records.TABLE, empty)))


def _decoded(archived: DataFrame) -> DataFrame:
    payload = decode.payload(F.col("value"), decode.envelope(F.col("value"), {}))
    return archived.select(payload.alias("payload")).withColumn("event_id", decode.event_id(F.col("payload")))


def _run(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _seconds(act: Callable[[], object]) -> float:
    began = perf_counter()
    act()
    return perf_counter() - began
