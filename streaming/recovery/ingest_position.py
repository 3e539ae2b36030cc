"""The position of ingest in its topics, kept in its checkpoint: read it, move it, or restore it from the archive.

Next to Spark's own logs (see `delta.private_api.checkpoint_log`), the checkpoint has a log of ours, `topics/N`: which
topics were read (see `topic`).
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from pyspark.sql import SparkSession

from lineproof.schemas.archive_names import name_in_archive, newest_name
from lineproof.schemas.topic_names import TopicNames
from lineproof.streaming.delta.private_api.checkpoint_log import CheckpointLog
from lineproof.streaming.delta.private_api.directory import Directory
from lineproof.streaming.recovery.checkpoint import read_checkpoint
from lineproof.streaming.recovery.topic import (
    ArchivePosition,
    Loss,
    LostRange,
    OffsetRanges,
    Offsets,
    SourceTopic,
    Topic,
    TopicLoss,
    find_losses,
    starts_after,
)

log = logging.getLogger(__name__)

RecordLosses = Callable[[Sequence[LostRange], int], None]
"""Keeps the ranges that were accepted as lost, with the number of the batch that skips them."""


class IngestPosition:
    """The position in one checkpoint directory of ingest."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._checkpoint = read_checkpoint(spark, path)
        self._checkpoint_log = CheckpointLog(spark, path)
        self._files = Directory(spark, path)

    def sources(self) -> dict[str, SourceTopic]:
        """The newest entry of each topic. If its batch is not finished, it belongs to a move that was interrupted."""
        last = self._checkpoint.last_finished_batch
        return {entry.topic: entry for entry in self._entries if entry.moved_at <= last}

    def moved_at(self) -> int:
        """The last batch that was a move; -1 if there is none."""
        return max((source.moved_at for source in self.sources().values()), default=-1)

    def read(self, written: Mapping[str, int]) -> dict[str, ArchivePosition] | None:
        """The position in each topic after the last archived batch; None before the first batch is planned.

        `written` maps query ids to their last batch in the archive, which the checkpoint may not yet list as finished.
        """
        batch = max(written.get(str(self._checkpoint.query_id), -1), self._checkpoint.last_finished_batch)
        end = self._end_offsets(batch)
        if end is None:
            return None
        sources = self.sources()
        return {
            topic: ArchivePosition(sources.get(topic, SourceTopic(topic, "", topic)), batch + 1, offsets)
            for topic, offsets in end.items()
        }

    def ranges(self, batch: int) -> dict[str, OffsetRanges]:
        """The offsets that a planned batch reads, by topic. A partition that is new in it begins at 0."""
        begin, end = self._end_offsets(batch - 1) or {}, self._end_offsets(batch) or {}
        return {
            topic: {partition: (begin.get(topic, {}).get(partition, 0), last) for partition, last in offsets.items()}
            for topic, offsets in end.items()
        }

    def check_topics(
        self, topics: Sequence[Topic], written: Mapping[str, int], accept_loss: int | None, record: RecordLosses
    ) -> dict[str, SourceTopic]:
        """Make sure that ingest can continue with the topics as they are now; raise if that would lose records.

        A loss is accepted by the number of the batch that it affects, so that no other loss is accepted with it.
        `record` keeps what was accepted.
        """
        positions = self.read(written)
        if positions is None:
            return {topic.name: self._add(SourceTopic(topic.name, topic.id, topic.name)) for topic in topics}
        losses = {loss.topic: loss for loss in find_losses(positions, topics)}
        for loss in losses.values():
            if accept_loss != next(iter(positions.values())).batch:
                raise TopicLoss([*losses.values()])
            log.warning("Accepted: %s", loss.what)
        sources = {topic.name: self._source(topic, positions, losses.get(topic.name)) for topic in topics}
        offsets = {topic.name: _next_offsets(topic, positions, losses.get(topic.name)) for topic in topics}
        # Spark would repeat a batch that is archived, but whose records may have expired since; and it would refuse a
        # topic that it does not know and that begins after offset 0.
        reached = self._end_offsets(self._checkpoint.last_finished_batch) or {}
        is_expired = any(starts_after(topic, reached.get(topic.name, {})) for topic in topics)
        if not losses and not is_expired and all(topic.name in positions for topic in topics):
            return {name: self._add(source) for name, source in sources.items()}
        if losses:
            record([lost for loss in losses.values() for lost in loss.lost], self._checkpoint.last_planned_batch + 1)
        dropped = (self._dropped(name) for name in positions.keys() - sources.keys())
        return self._move(sources, offsets, dropped)

    def _source(self, topic: Topic, positions: Mapping[str, ArchivePosition], loss: Loss | None) -> SourceTopic:
        position = positions.get(topic.name)
        if position is None or (loss and loss.is_new_topic):
            return self._new_source(topic)
        return replace(position.source, topic_id=topic.id or position.source.topic_id)

    def _new_source(self, topic: Topic) -> SourceTopic:
        """A topic that is read from its beginning: under its name, or under another if the archive has that already."""
        entry = self.sources().get(topic.name)
        if entry and entry.archived_as and not entry.topic_id and topic.name not in self._names_read():
            return replace(entry, topic_id=topic.id)  # the name that was kept for it when it was dropped
        return SourceTopic(topic.name, topic.id, name_in_archive(topic.name, self._used()))

    def _dropped(self, topic: str) -> SourceTopic:
        """If a dropped topic comes back, its records get another name."""
        return SourceTopic(topic, "", name_in_archive(topic, self._used()))

    def _used(self) -> set[str]:
        return {entry.archived_as for entry in self._entries} | self._names_read()

    def _names_read(self) -> set[str]:
        """The topics in which the last batch of the checkpoint ends."""
        return set(self._end_offsets(self._checkpoint.last_finished_batch) or ())

    def restore(self, query_id: str, batch: int, topics: TopicNames, archived: Mapping[str, OffsetRanges]) -> None:
        """Restore the checkpoint that wrote the archive: its query id, its last batch, and the offsets after it."""
        names = {name.partition("#")[0] for name in archived}
        current = topics.matching(names)
        ends: dict[str, Offsets] = {}
        for topic in sorted(names):
            newest = newest_name(topic, archived)
            if topic in current:
                self._add(SourceTopic(topic, "", newest))
                ends[topic] = {partition: end for partition, (_, end) in archived.get(newest, {}).items()}
            else:
                self._add(SourceTopic(topic, "", name_in_archive(topic, archived.keys())))
        for number in range(max(0, batch - 1), batch + 1):  # Spark reads the last two
            self._plan(number, ends)
        self._checkpoint_log.finish_batch(batch)
        self._checkpoint_log.set_query_id(query_id)

    def _end_offsets(self, batch: int) -> dict[str, Offsets] | None:
        """The end of a batch by topic; of batch -1, the beginning of the first batch."""
        by_topic = self._checkpoint_log.end_offset(batch)
        if by_topic is None:
            return None
        return {
            topic: {int(partition): offset for partition, offset in offsets.items()}
            for topic, offsets in by_topic.items()
        }

    def _move(
        self, sources: Mapping[str, SourceTopic], offsets: Mapping[str, Offsets], dropped: Iterable[SourceTopic]
    ) -> dict[str, SourceTopic]:
        """Continue at these offsets, as if a batch had ended there. The move is valid once that batch is finished."""
        batch = self._checkpoint.last_planned_batch + 1
        for source in dropped:
            self._add(replace(source, moved_at=batch))
        moved = {name: self._add(replace(source, moved_at=batch)) for name, source in sources.items()}
        self._plan(batch, offsets)
        self._checkpoint_log.finish_batch(batch)
        return moved

    def _plan(self, batch: int, ends: Mapping[str, Offsets]) -> None:
        end = {
            topic: {str(partition): offset for partition, offset in sorted(offsets.items())}
            for topic, offsets in sorted(ends.items())
        }
        self._checkpoint_log.plan_batch(batch, end)

    @cached_property
    def _entries(self) -> list[SourceTopic]:
        """The log of topics, read once: it is on an object store, and has an entry for every topic and move."""
        entries = (self._files.read(f"topics/{number}") for number in self._files.numbers("topics"))
        return [SourceTopic.from_json(entry) for entry in entries if entry]

    def _add(self, source: SourceTopic) -> SourceTopic:
        """Add an entry to the log, unless it is the newest entry of its topic."""
        if [entry for entry in self._entries if entry.topic == source.topic][-1:] != [source]:
            self._files.write(f"topics/{max(self._files.numbers('topics'), default=-1) + 1}", source.to_json())
            self._entries.append(source)
        return source


def _next_offsets(topic: Topic, positions: Mapping[str, ArchivePosition], loss: Loss | None) -> Offsets:
    """Where ingest continues in a topic."""
    if loss:
        return loss.offsets
    if topic.name in positions:
        return positions[topic.name].offsets
    return {partition: begin for partition, (begin, _) in topic.offsets.items()}
