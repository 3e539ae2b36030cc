"""How far the job has told subscribers about the archive, so that a rebuild does not tell them all of it again.

The position is an offset for each partition of the topic, and not a version of the archive: a rebuild reads the files
of the archive in another order than they were written in, and compaction puts old and new records into one file.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.delta.private_api.directory import Directory
from lineproof.streaming.delta.reader import with_keys
from lineproof.streaming.stages.batch import Batch

DIRECTORY = "published"
"""Next to the checkpoints of the queries."""

Offsets = Mapping[str, int]
"""The next offset by `TOPIC/PARTITION`. The topic has its name in the archive."""


@dataclass(frozen=True)
class Position:
    """Every archived record before these offsets has been published."""

    archive: str
    """The id of the archive as a Delta table."""
    query: str
    """The id of the query that published last. A rebuild has another id."""
    offsets: Offsets = field(default_factory=dict)


class PublishedPosition:
    """The position next to the checkpoints. It is written after a batch is published, so that no batch is left out."""

    def __init__(self, spark: SparkSession, checkpoints: str) -> None:
        self._files = Directory(spark, f"{checkpoints}/{DIRECTORY}")
        self._numbers = self._files.numbers("log")
        newest = self._files.read(f"log/{self._numbers[-1]}") if self._numbers else None
        self._position = Position(**json.loads(newest)) if newest else None
        self._in_version: Offsets = {}
        """The offsets of batches that ended within a version of the archive."""

    def unpublished(
        self, batch: Batch, runs: DataFrame | None, query: str, end: Mapping[str, Any]
    ) -> tuple[Batch, DataFrame | None] | None:
        """The part of a batch and of the runs that it changed which is to be published; None if nothing is.

        Once a rebuild has told them of a new record, it tells them of everything: later batches complete its run.
        """
        known = self._position
        if known is None or known.query == query or known.archive != end["reservoirId"]:
            return batch, runs
        facts = batch.facts.where(_is_beyond(known.offsets))
        if facts.isEmpty():
            return None
        new = replace(batch, facts=facts)
        return new, None if runs is None else with_keys(runs, new.events.select("run_id"))

    def record(self, batch: Batch, query: str, end: Mapping[str, Any]) -> None:
        """Record that a batch is published, which ends at this offset of the archive's stream."""
        known = self._position
        if known is None or known.archive != end["reservoirId"]:
            known = Position(str(end["reservoirId"]), query)
        self._in_version = _latest(self._in_version, _end_of(batch))
        # Within a version, files may be in another order than the offsets of their records.
        if _is_end_of_version(end):
            known, self._in_version = replace(known, offsets=_latest(known.offsets, self._in_version)), {}
        self._write(replace(known, query=query))

    def _write(self, position: Position) -> None:
        if position == self._position:
            return
        number = self._numbers[-1] + 1 if self._numbers else 0
        self._files.write(f"log/{number}", json.dumps(asdict(position), sort_keys=True))
        for old in self._numbers:
            self._files.delete(f"log/{old}")
        self._position, self._numbers = position, [number]


def _is_beyond(offsets: Offsets) -> Column:
    """Whether a record is at or after the position of its partition."""
    if not offsets:
        return F.lit(True)
    known = F.create_map(*(F.lit(part) for pair in offsets.items() for part in pair))
    return F.col("offset") >= F.coalesce(known[F.concat_ws("/", "topic", "partition")], F.lit(0))


def _end_of(batch: Batch) -> Offsets:
    rows = batch.facts.groupBy("topic", "partition").agg(F.max("offset").alias("last")).collect()
    return {f"{row.topic}/{row.partition}": row.last + 1 for row in rows}


def _latest(left: Offsets, right: Offsets) -> Offsets:
    return {name: max(left.get(name, 0), right.get(name, 0)) for name in {**left, **right}}


def _is_end_of_version(end: Mapping[str, Any]) -> bool:
    """Whether a batch has read every file up to a version of the archive: it then ends before the next version."""
    return int(end["index"]) < 0 and not end["isStartingVersion"]
