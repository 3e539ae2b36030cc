"""A micro-batch of new events, for the tables of jobs, datasets and lineage."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.limits import DEFAULT_LIMITS, Limits
from lineproof.streaming.delta.key_ranges import KeyRanges, prefix, text_ranges
from lineproof.streaming.spark_settings import storage_level
from lineproof.streaming.stages.observations import observations


@dataclass(frozen=True)
class GraphBatch:
    """New rows of `lineage_events`, and their observations of jobs and datasets."""

    events: DataFrame
    """The events without their JSON, persisted."""
    observations: DataFrame
    """Jobs and datasets with their facets (see `stages.observations`), checkpointed."""
    run_ids: KeyRanges
    """Ranges that cover the run ids of all events."""
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
        [(count, run_ids)] = events.agg(F.count("*"), F.collect_set(prefix(F.col("run_id")))).collect()
        # Not persisted: curate writes to the table at the same time, and after each write Spark would read it again.
        observed = observations(events, added).localCheckpoint(eager=False)
        yield GraphBatch(events, observed, text_ranges("run_id", run_ids), count, limits)
    finally:
        events.unpersist()
