"""A micro-batch of new events, for the tables of jobs, datasets and lineage."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.limits import DEFAULT_LIMITS, Limits
from lineproof.streaming.delta.table import Range
from lineproof.streaming.spark_settings import storage_level
from lineproof.streaming.stages.observations import observations


@dataclass(frozen=True)
class GraphBatch:
    """New rows of `lineage_events`, and their observations of jobs and datasets."""

    events: DataFrame
    """The events without their JSON, persisted."""
    observations: DataFrame
    """Jobs and datasets with their facets (see `stages.observations`), checkpointed."""
    run_ids: Range
    """The range of the batch's run ids. It is narrow if they are UUIDv7, which begin with the time."""
    count: int
    """The number of events."""
    limits: Limits


@contextmanager
def open_graph_batch(added: DataFrame, limits: Limits = DEFAULT_LIMITS) -> Iterator[GraphBatch]:
    """Persist the events without their JSON, and parse again those that show new facets.

    The JSON comes from the batch and not from the table, where retention may already have deleted the row.
    """
    events = added.drop("event").persist(storage_level(added.sparkSession))
    try:
        [(count, first, last)] = events.agg(F.count("*"), F.min("run_id"), F.max("run_id")).collect()
        # Not persisted: curate writes to the table at the same time, and after each write Spark would read it again.
        observed = observations(events, added).localCheckpoint(eager=False)
        yield GraphBatch(events, observed, Range("run_id", first, last), count, limits)
    finally:
        events.unpersist()
