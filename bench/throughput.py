"""How many events a second: a plain copy of the topic, ingest alone, the whole job, and the job on harder topics."""

import shutil
from collections.abc import Iterator
from dataclasses import replace

from pyspark.sql import SparkSession

from lineproof.bench.figures import Figure, at_least, of, rate
from lineproof.bench.generate import History
from lineproof.bench.world import World, seconds_of
from lineproof.streaming.job import Job, JobConfig, read_topic
from lineproof.streaming.session import ALWAYS, DELTA, THIS_MACHINE

WARM_UP_EVENTS = 100_000
COPIES = 2
"""The fastest counts: the first is slower, because the JVM still compiles."""
RESENDS, POISON = 0.9, 0.01

CURATED = "curated"
"""The name of the tables that are left behind."""


def throughput(world: World) -> Iterator[Figure]:
    """Each contender over its topic, all of one size."""
    events = world.events
    _warm_up(world)
    topic = world.fill("bench.plain", History().records(events))
    config = world.config(topic, CURATED)
    floor = rate("copy", events, copy(world, config, plain(world.spark)))
    yield floor
    # What our settings alone do for the same copy: most of them are for writing.
    tuned = rate("copy, with the job's settings", events, copy(world, config, world.spark))
    yield of(tuned, floor)
    job = world.job(config)
    world.say("ingest")
    ingest = seconds_of(job.start_ingest)
    yield at_least(0.5, rate("ingest", events, ingest), floor)
    world.say("curate and graph")
    curated = rate("curated", events, ingest + _derive(job))
    yield at_least(0.2, curated, floor)
    yield of(replace(curated, benchmark="curated, of the copy with the job's settings"), tuned)
    yield at_least(1.0, rate("replay", events, _replay(world, config)), curated)
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
    copy(world, config, plain(world.spark))
    whole_job(world, config)
    world.remove("warm-up")


def plain(spark: SparkSession) -> SparkSession:
    """A session without our settings, as far as a session has a say in them: as whoever writes a copy has it."""
    session = spark.newSession()
    for name in {**ALWAYS, **THIS_MACHINE}.keys() - DELTA.keys():
        if name.startswith("spark.hadoop."):  # the dictionaries that we switch off
            session.conf.set(name.removeprefix("spark.hadoop."), "true")
        elif session.conf.isModifiable(name) or name.startswith("spark.databricks."):  # known once Delta is loaded
            session.conf.unset(name)
    return session


def copy(world: World, config: JobConfig, spark: SparkSession) -> float:
    """How long it takes to bring the topic, read as ingest reads it, into a Delta table as it is."""
    place = world.directory / "copy"

    def once(number: int) -> float:
        world.say(f"copy, {number} of {COPIES}")
        seconds = seconds_of(
            lambda: (
                read_topic(spark, config)
                .writeStream.format("delta")
                .trigger(availableNow=True)
                .option("checkpointLocation", str(place / "checkpoint"))
                .start(str(place / "table"))
            )
        )
        shutil.rmtree(place)
        return seconds

    return min(once(number) for number in range(1, COPIES + 1))


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
