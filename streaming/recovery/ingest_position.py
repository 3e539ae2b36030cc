"""The position of ingest in its topic, kept in its checkpoint: read it, move it, or restore it from the archive.

Next to Spark's own logs (see `delta.private_api.checkpoint_log`), the checkpoint has a log of ours, `topics/N`: which
topic was read (see `topic`).
"""

import logging
from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import SparkSession

from lineproof.schemas.archive_names import name_in_archive, newest_name
from lineproof.streaming.delta.private_api.checkpoint_log import CheckpointLog
from lineproof.streaming.delta.private_api.directory import Directory
from lineproof.streaming.recovery.checkpoint import read_checkpoint
from lineproof.streaming.recovery.topic import (
    ArchivePosition,
    OffsetRanges,
    Offsets,
    SourceTopic,
    Topic,
    find_loss,
    starts_after,
)

log = logging.getLogger(__name__)


class IngestPosition:
    """The position in one checkpoint directory of ingest."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._checkpoint = read_checkpoint(spark, path)
        self._checkpoint_log = CheckpointLog(spark, path)
        self._files = Directory(spark, path)

    def source(self) -> SourceTopic | None:
        """The topic that ingest reads. An entry whose batch is not finished belongs to a move that was interrupted."""
        last = self._checkpoint.last_finished_batch
        return next((entry for entry in reversed(self._sources()) if entry.moved_at <= last), None)

    def read(self, written: Mapping[str, int]) -> ArchivePosition | None:
        """The position after the last archived batch; None before the first batch is planned.

        `written` maps query ids to their last batch in the archive, which the checkpoint may not yet list as finished.
        """
        batch = max(written.get(str(self._checkpoint.query_id), -1), self._checkpoint.last_finished_batch)
        end = self._end_offsets(batch)
        if end is None:
            return None
        ((topic, offsets),) = end.items()
        return ArchivePosition(self.source() or SourceTopic(topic, "", topic), batch + 1, offsets)

    def check_topic(self, topic: Topic, written: Mapping[str, int], accept_loss: int | None) -> SourceTopic:
        """Make sure that ingest can continue with the topic as it is now; raise if that would lose records.

        A loss is accepted by the number of the batch that it affects, so that no other loss is accepted with it.
        """
        position = self.read(written)
        if position is None:
            return self._add_source(SourceTopic(topic.name, topic.id, topic.name))
        loss = find_loss(position, topic)
        if loss is None:
            source = replace(position.source, topic_id=topic.id or position.source.topic_id)
            # Spark would repeat a batch that is archived, but whose records may have expired since.
            is_expired = starts_after(topic, self._next_offsets_of_spark())
            return self._move(source, position.offsets) if is_expired else self._add_source(source)
        if accept_loss != position.batch:
            raise loss
        log.warning("Accepted: %s", loss.what)
        if not loss.is_new_topic:
            return self._move(position.source, loss.offsets)
        used = {position.source.archived_as, *(entry.archived_as for entry in self._sources())}
        return self._move(SourceTopic(topic.name, topic.id, name_in_archive(topic.name, used)), loss.offsets)

    def restore(self, query_id: str, batch: int, topic: str, archived: Mapping[str, OffsetRanges]) -> None:
        """Restore the checkpoint that wrote the archive: its query id, its last batch, and the offsets after it."""
        archived_as = newest_name(topic, archived)
        for name in sorted(archived.keys() - {archived_as}):
            self._add_source(SourceTopic(name.partition("#")[0], "", name))
        self._add_source(SourceTopic(topic, "", archived_as))
        offsets = {partition: end for partition, (_, end) in archived.get(archived_as, {}).items()}
        for number in range(max(0, batch - 1), batch + 1):  # Spark reads the last two
            self._plan(number, topic, offsets)
        self._checkpoint_log.finish_batch(batch)
        self._checkpoint_log.set_query_id(query_id)

    def _next_offsets_of_spark(self) -> Offsets:
        """Where Spark continues: after the last batch that the checkpoint lists as finished."""
        end = self._end_offsets(self._checkpoint.last_finished_batch) or {}
        return next(iter(end.values()), {})

    def _end_offsets(self, batch: int) -> dict[str, Offsets] | None:
        """The end of a batch by topic; of batch -1, the beginning of the first batch."""
        by_topic = self._checkpoint_log.end_offset(batch)
        if by_topic is None:
            return None
        return {
            topic: {int(partition): offset for partition, offset in offsets.items()}
            for topic, offsets in by_topic.items()
        }

    def _move(self, source: SourceTopic, offsets: Offsets) -> SourceTopic:
        """Continue at these offsets, as if a batch had ended there. The move is valid once that batch is finished."""
        batch = self._checkpoint.last_planned_batch + 1
        moved = self._add_source(replace(source, moved_at=batch))
        self._plan(batch, source.topic, offsets)
        self._checkpoint_log.finish_batch(batch)
        return moved

    def _plan(self, batch: int, topic: str, offsets: Offsets) -> None:
        end = {topic: {str(partition): offset for partition, offset in sorted(offsets.items())}}
        self._checkpoint_log.plan_batch(batch, end)

    def _sources(self) -> list[SourceTopic]:
        entries = (self._files.read(f"topics/{number}") for number in self._files.numbers("topics"))
        return [SourceTopic.from_json(entry) for entry in entries if entry]

    def _add_source(self, source: SourceTopic) -> SourceTopic:
        if self._sources()[-1:] != [source]:
            self._files.write(f"topics/{max(self._files.numbers('topics'), default=-1) + 1}", source.to_json())
        return source
