"""Records that a topic has lost before they were archived are found before the first batch."""

from dataclasses import replace

import pytest

from lineproof.streaming.recovery.topic import (
    ArchivePosition,
    LostRange,
    SourceTopic,
    Topic,
    TopicLoss,
    find_loss,
    find_losses,
    starts_after,
)

SOURCE = SourceTopic("events", "id-1", "events")
AT_500 = ArchivePosition(SOURCE, batch=18, offsets={0: 500, 1: 480})


def topic(*bounds: tuple[int, int], name: str = "events", topic_id: str = "id-1") -> Topic:
    return Topic(name, topic_id, dict(enumerate(bounds)))


@pytest.mark.parametrize(
    "current",
    [
        topic((0, 500), (0, 480)),  # nothing new
        topic((500, 500), (480, 480)),  # expired, but archived
        topic((300, 900), (480, 481)),
        topic((0, 500), (0, 480), (0, 7)),  # one more partition
        topic((0, 500), (0, 480), topic_id=""),  # a broker without topic ids
    ],
)
def test_a_topic_with_all_records_is_accepted(current: Topic) -> None:
    assert find_loss(AT_500, current) is None


def test_expired_offsets_are_named() -> None:
    loss = find_loss(AT_500, topic((620, 900), (0, 480), (3, 9)))
    assert loss
    assert not loss.is_new_topic
    assert loss.lost == [LostRange("events", 0, 500, 620), LostRange("events", 2, 0, 3)]
    assert loss.what == (
        "Records expired before batch 18 could archive them: events-0: offsets 500 to 619, events-2: offsets 0 to 2. "
        "The topic now has events-0: offsets 620 to 899, events-1: offsets 0 to 479, events-2: offsets 3 to 8."
    )
    assert "--accept-loss=18" in loss.remedy
    assert "archive_gaps" in loss.remedy
    assert loss.offsets == {0: 620, 1: 480, 2: 3}


@pytest.mark.parametrize(
    ("current", "message"),
    [
        (topic((0, 20), (0, 0)), "was recreated, or has lost its last records, before batch 18"),
        (topic((0, 500)), "was recreated, or has lost its last records, before batch 18"),  # one partition less
        (topic((0, 600), (0, 600), topic_id="id-2"), "was recreated before batch 18"),  # longer than the old topic
    ],
)
def test_another_topic_is_refused(current: Topic, message: str) -> None:
    loss = find_loss(AT_500, current)
    assert loss
    assert loss.is_new_topic
    assert message in loss.what
    assert "read up to events-0: offsets 0 to 499, events-1: offsets 0 to 479" in loss.what
    assert "--accept-loss=18" in loss.remedy
    assert "bootstrap.servers" in loss.remedy
    assert loss.offsets == dict.fromkeys(current.offsets, 0)
    assert loss.lost == [LostRange("events", 0, 500, None), LostRange("events", 1, 480, None)]


def test_each_of_several_topics_is_compared() -> None:
    positions = {name: replace(AT_500, source=SourceTopic(name, "id-1", name)) for name in ("a", "b", "c")}
    new, same, expired = (
        topic((7, 9), name="new"),
        topic((0, 500), (0, 480), name="a"),
        topic((600, 600), (0, 480), name="b"),
    )
    assert find_losses(positions, [same, replace(same, name="b"), replace(same, name="c"), new]) == []
    removed, gone = find_losses(positions, [same, new, expired])
    assert (removed.topic, gone.topic) == ("c", "b")
    assert (
        "topics.events is a, b, new, but before batch 18 it was a, b, c. The topic c was read up to c-0: "
        in removed.what
    )
    assert removed.lost == [LostRange("c", 0, 500, None), LostRange("c", 1, 480, None)]
    whole = TopicLoss([removed, gone])
    assert removed.what in whole.what
    assert gone.what in whole.what
    assert "--accept-loss=18" in whole.remedy


def test_the_records_of_a_new_topic_are_named() -> None:
    loss = find_loss(AT_500, topic((0, 20), (0, 0)))
    assert loss
    assert loss.what.endswith("The new topic has events-0: offsets 0 to 19, events-1: nothing.")


def test_source_topics_are_stored_as_json() -> None:
    moved = SourceTopic("events", "id-2", "events#2", moved_at=19)
    assert SourceTopic.from_json(moved.to_json()) == moved


def test_expired_offsets() -> None:
    assert starts_after(topic((501, 600), (0, 480)), {0: 500, 1: 480})
    assert not starts_after(topic((500, 600), (0, 480), (7, 9)), {0: 500, 1: 480})
