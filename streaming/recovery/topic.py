"""The topic that ingest reads: where the archive stands in it, and whether the topic still has what comes next.

Spark fails a batch whose records are gone, but does not say which ones. In a topic that was deleted and recreated, it
continues at the old offsets as soon as there are that many records again, and never reads the first ones. Therefore
topic and checkpoint are compared before the first batch, by Kafka's topic id and by offsets.

The records of a recreated topic are archived under another name (see `schemas.archive_names`).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from lineproof.schemas.errors import LineproofError

Offsets = Mapping[int, int]
"""The next offset of every partition."""
OffsetRanges = Mapping[int, tuple[int, int]]
"""The first and the next offset of every partition."""


@dataclass(frozen=True)
class Topic:
    """A topic as the broker describes it now."""

    name: str
    id: str
    """Empty if the broker has no topic ids."""
    offsets: OffsetRanges


@dataclass(frozen=True)
class SourceTopic:
    """The topic that ingest reads from a certain batch on: an entry of the log in its checkpoint."""

    topic: str
    topic_id: str
    archived_as: str
    """Its name in the archive."""
    moved_at: int = -1
    """The batch that skips lost records in the checkpoint. It wrote nothing."""

    def to_json(self) -> str:
        """The text of the log entry."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "SourceTopic":
        """Read a log entry."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class ArchivePosition:
    """Where the archive ends in the topic."""

    source: SourceTopic
    batch: int
    """The next batch."""
    offsets: Offsets


class TopicLoss(LineproofError):
    """The topic does not have the records that the archive needs next."""

    def __init__(self, what: str, remedy: str, offsets: Offsets, *, is_new_topic: bool) -> None:
        super().__init__(what, remedy)
        self.offsets = offsets
        """Where to continue once the loss is accepted."""
        self.is_new_topic = is_new_topic


def find_loss(position: ArchivePosition, topic: Topic) -> TopicLoss | None:
    """Compare the archive with the topic: is it another topic, or have records expired that are not archived?"""
    accept = f"start once with --accept-loss={position.batch}"
    difference = _difference(position, topic)
    if difference:
        return TopicLoss(
            difference,
            "If this is the wrong topic, correct topics.events or kafka.bootstrap.servers. To continue with it from "
            f"its beginning, in the same tables, {accept}: archived records stay as they are.",
            {partition: begin for partition, (begin, _) in topic.offsets.items()},
            is_new_topic=True,
        )
    reached = {partition: position.offsets.get(partition, 0) for partition in topic.offsets}
    gone = {
        partition: (reached[partition], begin)
        for partition, (begin, _) in topic.offsets.items()
        if begin > reached[partition]
    }
    if gone:
        return TopicLoss(
            f"Records expired before batch {position.batch} could archive them: {format_ranges(topic.name, gone)}. "
            f"The topic now has {format_ranges(topic.name, topic.offsets)}.",
            f"To continue with the records that are left, {accept}: the view archive_gaps lists what is missing.",
            {partition: max(reached[partition], begin) for partition, (begin, _) in topic.offsets.items()},
            is_new_topic=False,
        )
    return None


def starts_after(topic: Topic, offsets: Offsets) -> bool:
    """Whether records from these offsets on have expired."""
    return any(begin > offsets.get(partition, begin) for partition, (begin, _) in topic.offsets.items())


def format_ranges(name: str, offsets: OffsetRanges) -> str:
    """Offset ranges for a message: `events-0: offsets 0 to 19, events-1: nothing`."""
    return ", ".join(
        f"{name}-{partition}: {f'offsets {begin} to {end - 1}' if end > begin else 'nothing'}"
        for partition, (begin, end) in sorted(offsets.items())
    )


def _difference(position: ArchivePosition, topic: Topic) -> str:
    """Why this is not the topic that was archived; empty if it is.

    A topic that has lost its last records, for example by an unclean leader election, gives their offsets to new
    records. That is as bad as a recreated topic.
    """
    source, offsets = position.source, position.offsets
    archived = format_ranges(source.topic, {partition: (0, reached) for partition, reached in offsets.items()})
    if topic.name != source.topic:
        return (
            f"topics.events is {topic.name}, but before batch {position.batch} it was {source.topic}. "
            f"The old topic was read up to {archived}; its later records would be skipped."
        )
    has_other_id = bool(topic.id and source.topic_id and topic.id != source.topic_id)
    is_shorter = any(topic.offsets.get(partition, (0, -1))[1] < reached for partition, reached in offsets.items())
    if has_other_id or is_shorter:
        return (
            f"The topic {topic.name} was recreated{'' if has_other_id else ', or has lost its last records,'} before "
            f"batch {position.batch}. The old topic was read up to {archived}; its later records are lost. "
            f"The new topic has {format_ranges(topic.name, topic.offsets)}."
        )
    return ""
