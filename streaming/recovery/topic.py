"""The topic that ingest reads: how far the archive has come in it, and whether it still has what comes next.

Spark fails a batch whose records are gone, without saying which. And in a topic that was deleted and made anew it
reads on from the old offsets once there are that many records again, and never reads the first ones. So topic and
checkpoint are compared before the first batch: by the id that Kafka gives a topic, and by offsets.

A record is known for ever by topic, partition and offset. A topic made anew counts from 0 again; so that no record is
taken for another, the new ones are archived under a name that no topic can have: `lineage.events#2`.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from lineproof.schemas.errors import LineproofError

Offsets = Mapping[int, int]
"""The next offset of every partition."""
Ranges = Mapping[int, tuple[int, int]]
"""First and next offset of every partition."""


@dataclass(frozen=True)
class Topic:
    """A topic as the broker has it now."""

    name: str
    id: str
    """Empty where the broker gives none."""
    offsets: Ranges


@dataclass(frozen=True)
class Origin:
    """What ingest reads, and since when: an entry of the log that lies in its checkpoint."""

    topic: str
    topic_id: str
    archived_as: str
    """The archive's name for it."""
    moved_at: int = -1
    """The batch that stands in the checkpoint for records that were given up; it wrote nothing."""

    def text(self) -> str:
        """As it is kept."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> "Origin":
        """As it was kept."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Position:
    """How far the archive has come."""

    origin: Origin
    batch: int
    """The batch that comes next."""
    offsets: Offsets


class TopicLoss(LineproofError):
    """The topic does not have what the archive needs next."""

    def __init__(self, what: str, remedy: str, offsets: Offsets, *, is_new_topic: bool) -> None:
        super().__init__(what, remedy)
        self.offsets = offsets
        """Where to go on once the loss is accepted."""
        self.is_new_topic = is_new_topic


def find_loss(position: Position, topic: Topic) -> TopicLoss | None:
    """What the topic does not have of what comes next."""
    accept = f"start once with --accept-loss={position.batch}"
    what = _another(position, topic)
    if what:
        return TopicLoss(
            what,
            "If it is not the one you mean, correct topics.events or kafka.bootstrap.servers. To go on with it from "
            f"its beginning, in the same tables, {accept}: what is archived stays as it is.",
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
            f"Records expired before batch {position.batch} could archive them: {ranges(topic.name, gone)}. "
            f"The topic now has {ranges(topic.name, topic.offsets)}.",
            f"To go on with what the topic still has, {accept}: the view archive_gaps keeps showing what is missing.",
            {partition: max(reached[partition], begin) for partition, (begin, _) in topic.offsets.items()},
            is_new_topic=False,
        )
    return None


def begins_after(topic: Topic, offsets: Offsets) -> bool:
    """Whether records from these offsets on are no longer there."""
    return any(begin > offsets.get(partition, begin) for partition, (begin, _) in topic.offsets.items())


def ranges(name: str, offsets: Ranges) -> str:
    """Offsets in words."""
    return ", ".join(
        f"{name}-{partition}: {f'offsets {begin} to {end - 1}' if end > begin else 'nothing'}"
        for partition, (begin, end) in sorted(offsets.items())
    )


def _another(position: Position, topic: Topic) -> str:
    """How it is told that this is not the topic that was archived, or nothing if it is.

    A topic that has lost its end, as by an unclean election, gives the same offsets to other records: as bad.
    """
    before, offsets = position.origin, position.offsets
    archived = ranges(before.topic, {partition: (0, reached) for partition, reached in offsets.items()})
    if topic.name != before.topic:
        return (
            f"topics.events is {topic.name}, but before batch {position.batch} it was {before.topic}. "
            f"That one was read up to {archived}; what it has beyond would be left out."
        )
    has_other_id = bool(topic.id and before.topic_id and topic.id != before.topic_id)
    if has_other_id or any(topic.offsets.get(one, (0, -1))[1] < reached for one, reached in offsets.items()):
        return (
            f"The topic {topic.name} was made anew{'' if has_other_id else ', or has lost its end,'} before batch "
            f"{position.batch}. The old one was read up to {archived}; what it had beyond is lost. "
            f"The new one has {ranges(topic.name, topic.offsets)}."
        )
    return ""
