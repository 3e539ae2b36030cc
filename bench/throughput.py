"""How many events a second: a plain copy of the topic, ingest alone, the whole job, and the job on harder topics."""

import shutil
from collections.abc import Iterator
from dataclasses import replace

from lineproof.bench.figures import Figure, at_least, rate
from lineproof.bench.generate import History
from lineproof.bench.world import World, seconds_of
from lineproof.streaming.job import Job, JobConfig, read_topic

WARM_UP_EVENTS = 100_000
RESENDS, POISON = 0.9, 0.01

CURATED = "curated"
"""The name of the tables that are left behind."""


def throughput(world: World) -> Iterator[Figure]:
    """Each contender over its topic, all of one size."""
    events = world.events
    _warm_up(world)
    topic = world.fill("bench.plain", History().records(events))
    config = world.config(topic, CURATED)
    floor = rate("copy", events, copy(world, config))
    yield floor
    job = world.job(config)
    world.say("ingest")
    ingest = seconds_of(job.start_ingest)
    yield at_least(0.5, rate("ingest", events, ingest), floor)
    world.say("curate and graph")
    curated = rate("curated", events, ingest + _derive(job))
    yield at_least(0.2, curated, floor)
    yield at_least(1.0, rate("replay", events, _replay(world, config)), curated)
    # How far the floor carries: it came first, and the JVM has compiled much since.
    yield rate("copy, once more", events, copy(world, config))
    harder = (("duplicates", History(resends=RESENDS), 0.8), ("poison", History(poison=POISON), 0.9))
    for name, history, limit in harder:
        topic = world.fill(f"bench.{name}", history.records(events))
        yield at_least(limit, rate(name, events, whole_job(world, world.config(topic, name))), curated)
        world.remove(name)


def _warm_up(world: World) -> None:
    """What is measured later is not how fast a JVM compiles."""
    topic = world.fill("bench.warm-up", History(poison=POISON).records(WARM_UP_EVENTS))
    config = world.config(topic, "warm-up")
    world.say("warming up")
    copy(world, config)
    whole_job(world, config)
    world.remove("warm-up")


def copy(world: World, config: JobConfig) -> float:
    """The floor: the topic, read as ingest reads it, into a Delta table as it is."""
    world.say("copy")
    stream = read_topic(world.spark, config)
    place = world.directory / "copy"
    seconds = seconds_of(
        lambda: (
            stream.writeStream.format("delta")
            .trigger(availableNow=True)
            .option("checkpointLocation", str(place / "checkpoint"))
            .start(str(place / "table"))
        )
    )
    shutil.rmtree(place)
    return seconds


def whole_job(world: World, config: JobConfig) -> float:
    """All queries one after the other, as `available-now` runs them."""
    job = world.job(config)
    world.say("ingest, curate and graph")
    return seconds_of(job.start_ingest) + _derive(job)


def _derive(job: Job) -> float:
    """All that comes after the archive."""
    return seconds_of(job.start_curate) + seconds_of(job.start_graph)


def _replay(world: World, config: JobConfig) -> float:
    """All tables from the same archive again, into an empty directory beside it."""
    job = Job(world.spark, replace(world.config(config.topic, "replayed"), archive_in=config.tables))
    job.prepare_derived()
    world.say("replay")
    seconds = _derive(job)
    world.remove("replayed")
    return seconds
