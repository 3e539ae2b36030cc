"""One micro-batch of new events, as the tables of jobs, datasets and edges get it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.streaming.delta.table import Range
from lineproof.streaming.spark_settings import storage_level
from lineproof.streaming.stages.observations import observations


@dataclass(frozen=True)
class GraphBatch:
    """Rows that are new in `lineage_events`, and what they show of jobs and datasets."""

    events: DataFrame
    """Without their JSON. Kept."""
    observations: DataFrame
    """Where jobs and datasets were seen, and with which facets. Kept."""
    run_ids: Range
    """The range of the batch's runs: narrow where their ids are UUIDv7, which begin with the time."""
    count: int
    """Of the events."""


@contextmanager
def graph_batch_of(added: DataFrame) -> Iterator[GraphBatch]:
    """Look at the events without their JSON, and open those that tell something new.

    They are opened in the batch, and not in the table: rows that say they are old may have been deleted there.
    """
    events = added.drop("event").persist(storage_level(added.sparkSession))
    try:
        [(count, first, last)] = events.agg(F.count("*"), F.min("run_id"), F.max("run_id")).collect()
        # Not persisted: curate writes to the table meanwhile, and what Spark keeps of a table it reads anew then.
        seen = observations(events, added).localCheckpoint(eager=False)
        yield GraphBatch(events, seen, Range("run_id", first, last), count)
    finally:
        events.unpersist()
