"""Events per second: a plain copy of the topic, ingest alone, the whole job, and the job on harder topics."""

import shutil
from collections.abc import Iterator
from dataclasses import replace

from pyspark.sql import SparkSession

from lineproof.bench.environment import Environment, time_query
from lineproof.bench.figures import Figure, at_least, rate, relative_to
from lineproof.bench.generate import History
from lineproof.streaming.config import JobConfig
from lineproof.streaming.curate import Curate
from lineproof.streaming.ingest import read_topics
from lineproof.streaming.spark_settings import ALWAYS, DELTA, LOCAL

WARM_UP_EVENTS = 100_000
COPIES = 2
"""The fastest copy counts: the first is slower, because the JVM still compiles."""
RESENDS, POISON = 0.9, 0.01

CURATED = "curated"
"""The directory of the tables that stay for the query benchmark."""


def throughput(environment: Environment) -> Iterator[Figure]:
    """Measure each case over its own topic; all topics have the same size."""
    events = environment.events
    _warm_up(environment)
    topic = environment.create_topic("bench.plain", History().records(events))
    config = environment.config(topic, CURATED)
    baseline = rate("copy", events, copy(environment, config, plain_session(environment.spark)))
    yield baseline
    # The same copy with our Spark settings: most of them speed up writing.
    tuned = rate("copy, with the job's settings", events, copy(environment, config, environment.spark))
    yield relative_to(tuned, baseline)
    job = environment.job(config)
    environment.log("ingest")
    ingest = time_query(job.ingest.start)
    yield at_least(0.5, rate("ingest", events, ingest), baseline)
    environment.log("curate and graph")
    curated = rate("curated", events, ingest + _derive(job.curate))
    yield at_least(0.2, curated, baseline)
    yield relative_to(replace(curated, benchmark="curated, of the copy with the job's settings"), tuned)
    yield at_least(1.0, rate("replay", events, _replay(environment, config)), curated)
    harder = (("duplicates", History(resends=RESENDS), 0.8), ("poison", History(poison=POISON), 0.9))
    for name, history, limit in harder:
        topic = environment.create_topic(f"bench.{name}", history.records(events))
        yield at_least(limit, rate(name, events, whole_job(environment, environment.config(topic, name))), curated)
        environment.delete(name)


def _warm_up(environment: Environment) -> None:
    """Run everything once, so that later measurements do not include the JVM's compilation."""
    topic = environment.create_topic("bench.warm-up", History(poison=POISON).records(WARM_UP_EVENTS))
    config = environment.config(topic, "warm-up")
    environment.log("warming up")
    copy(environment, config, plain_session(environment.spark))
    whole_job(environment, config)
    environment.delete("warm-up")


def plain_session(spark: SparkSession) -> SparkSession:
    """A session without our settings, as far as a session can change them, as for a plain copy written by hand."""
    session = spark.newSession()
    for name in {**ALWAYS, **LOCAL}.keys() - DELTA.keys():
        if name.startswith("spark.hadoop."):  # the Parquet dictionaries that we switch off
            session.conf.set(name.removeprefix("spark.hadoop."), "true")
        elif session.conf.isModifiable(name) or name.startswith("spark.databricks."):  # known once Delta is loaded
            session.conf.unset(name)
    return session


def copy(environment: Environment, config: JobConfig, spark: SparkSession) -> float:
    """Seconds to copy the topic, read with the options of ingest, unchanged into a Delta table."""
    directory = environment.directory / "copy"

    def once(number: int) -> float:
        environment.log(f"copy, {number} of {COPIES}")
        seconds = time_query(
            lambda: (
                read_topics(spark, config.ingest)
                .writeStream.format("delta")
                .trigger(availableNow=True)
                .option("checkpointLocation", str(directory / "checkpoint"))
                .start(str(directory / "table"))
            )
        )
        shutil.rmtree(directory)
        return seconds

    return min(once(number) for number in range(1, COPIES + 1))


def whole_job(environment: Environment, config: JobConfig) -> float:
    """Seconds for all three queries, one after the other, as the trigger `available-now` runs them."""
    job = environment.job(config)
    environment.log("ingest, curate and graph")
    return time_query(job.ingest.start) + _derive(job.curate)


def _derive(curate: Curate) -> float:
    """Seconds for the queries that read the archive."""
    return time_query(curate.start_curate) + time_query(curate.start_graph)


def _replay(environment: Environment, config: JobConfig) -> float:
    """Seconds to derive all tables from the same archive again, into another directory."""
    replayed = environment.config(config.ingest.topics.first, "replayed").curate
    curate = Curate(environment.spark, replace(replayed, archive_root=config.curate.tables))
    curate.prepare()
    environment.log("replay")
    seconds = _derive(curate)
    environment.delete("replayed")
    return seconds
