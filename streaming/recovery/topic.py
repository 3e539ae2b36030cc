"""The topics that ingest reads: where the archive stands in each, and whether it still has what comes next.

Spark fails a batch whose records are gone, but does not say which ones. In a topic that was deleted and recreated, it
continues at the old offsets as soon as there are that many records again, and never reads the first ones. Therefore
topic and checkpoint are compared before the first batch, by Kafka's topic id and by offsets.

The records of a recreated topic are archived under another name (see `schemas.archive_names`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
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
    """A topic that ingest reads from a certain batch on: an entry of the log in its checkpoint."""

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
    """Where the archive ends in one topic."""

    source: SourceTopic
    batch: int
    """The next batch."""
    offsets: Offsets


@dataclass(frozen=True)
class LostRange:
    """Offsets that ingest gives up, from `first` to before `end`. No end: the topic is gone, so it is not known."""

    archived_as: str
    partition: int
    first: int
    end: int | None


@dataclass(frozen=True)
class Loss:
    """What one topic has lost."""

    topic: str
    what: str
    remedy: str
    offsets: Offsets
    """Where to continue once the loss is accepted."""
    lost: Sequence[LostRange]
    is_new_topic: bool = False
    """Whether the topic was recreated: its records get another name in the archive."""


class TopicLoss(LineproofError):
    """Topics do not have the records that the archive needs next."""

    def __init__(self, losses: Sequence[Loss]) -> None:
        super().__init__(" ".join(loss.what for loss in losses), losses[0].remedy)
        self.losses = losses


def find_losses(positions: Mapping[str, ArchivePosition], topics: Sequence[Topic]) -> list[Loss]:
    """Compare the archive with the topics as they are now. A topic that was not read before has lost nothing."""
    current = {topic.name: topic for topic in topics}
    removed = {name: position for name, position in positions.items() if name not in current}
    pairs = ((positions[name], topic) for name, topic in current.items() if name in positions)
    found = [loss for position, topic in pairs if (loss := find_loss(position, topic))]
    return [*_removed(removed, positions, current), *found]


def find_loss(position: ArchivePosition, topic: Topic) -> Loss | None:
    """Compare the archive with the topic: is it another topic, or have records expired that are not archived?"""
    difference = _difference(position, topic)
    if difference:
        begins = {partition: begin for partition, (begin, _) in topic.offsets.items()}
        return Loss(topic.name, difference, _wrong_topic(position), begins, _rest(position), is_new_topic=True)
    reached = {partition: position.offsets.get(partition, 0) for partition in topic.offsets}
    gone = {
        partition: (reached[partition], begin)
        for partition, (begin, _) in topic.offsets.items()
        if begin > reached[partition]
    }
    if not gone:
        return None
    return Loss(
        topic.name,
        f"Records expired before batch {position.batch} could archive them: {format_ranges(topic.name, gone)}. "
        f"The topic now has {format_ranges(topic.name, topic.offsets)}.",
        f"To continue with the records that are left, {_accept(position)}: archive_gaps lists what is missing.",
        {partition: max(reached[partition], begin) for partition, (begin, _) in topic.offsets.items()},
        [LostRange(position.source.archived_as, partition, *offsets) for partition, offsets in gone.items()],
    )


def _removed(
    removed: Mapping[str, ArchivePosition], positions: Mapping[str, ArchivePosition], current: Mapping[str, Topic]
) -> Iterator[Loss]:
    """Topics that were read, and that the settings do not name any more, or that the broker does not have any more."""
    for name, position in sorted(removed.items()):
        yield Loss(
            name,
            f"topics.events is {', '.join(sorted(current)) or 'empty'}, but before batch {position.batch} it was "
            f"{', '.join(sorted(positions))}. The topic {name} was read up to {_archived(position)}; its later records "
            "would be skipped.",
            _wrong_topic(position),
            {},
            _rest(position),
        )


def _wrong_topic(position: ArchivePosition) -> str:
    return (
        "If this is the wrong topic, correct topics.events or kafka.bootstrap.servers. To continue with what there is, "
        f"in the same tables, {_accept(position)}: archived records stay as they are."
    )


def _accept(position: ArchivePosition) -> str:
    return f"start once with --accept-loss={position.batch}"


def _rest(position: ArchivePosition) -> list[LostRange]:
    """Everything after the archive's end in a topic that is gone."""
    archived_as = position.source.archived_as
    return [LostRange(archived_as, partition, reached, None) for partition, reached in position.offsets.items()]


def _archived(position: ArchivePosition) -> str:
    ends = {partition: (0, reached) for partition, reached in position.offsets.items()}
    return format_ranges(position.source.topic, ends)


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
    has_other_id = bool(topic.id and source.topic_id and topic.id != source.topic_id)
    is_shorter = any(topic.offsets.get(partition, (0, -1))[1] < reached for partition, reached in offsets.items())
    if has_other_id or is_shorter:
        return (
            f"The topic {topic.name} was recreated{'' if has_other_id else ', or has lost its last records,'} before "
            f"batch {position.batch}. The old topic was read up to {_archived(position)}; its later records are lost. "
            f"The new topic has {format_ranges(topic.name, topic.offsets)}."
        )
    return ""
