"""What a topic has lost of what comes next, told before the first batch."""

import pytest

from lineproof.streaming.recovery.topic import (
    Origin,
    Position,
    Topic,
    begins_after,
    find_loss,
)

ORIGIN = Origin("events", "id-1", "events")
AT_500 = Position(ORIGIN, batch=18, offsets={0: 500, 1: 480})


def topic(*bounds: tuple[int, int], name: str = "events", topic_id: str = "id-1") -> Topic:
    return Topic(name, topic_id, dict(enumerate(bounds)))


@pytest.mark.parametrize(
    "there",
    [
        topic((0, 500), (0, 480)),  # nothing new
        topic((500, 500), (480, 480)),  # expired, but archived
        topic((300, 900), (480, 481)),
        topic((0, 500), (0, 480), (0, 7)),  # a partition more
        topic((0, 500), (0, 480), topic_id=""),  # a broker that gives no ids
    ],
)
def test_what_is_still_there_goes_on(there: Topic) -> None:
    assert find_loss(AT_500, there) is None


def test_expired_offsets_are_named() -> None:
    loss = find_loss(AT_500, topic((620, 900), (0, 480), (3, 9)))
    assert loss
    assert not loss.is_new_topic
    assert loss.what == (
        "Records expired before batch 18 could archive them: events-0: offsets 500 to 619, events-2: offsets 0 to 2. "
        "The topic now has events-0: offsets 620 to 899, events-1: offsets 0 to 479, events-2: offsets 3 to 8."
    )
    assert "--accept-loss=18" in loss.remedy
    assert "archive_gaps" in loss.remedy
    assert loss.offsets == {0: 620, 1: 480, 2: 3}


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (topic((0, 20), (0, 0)), "made anew, or has lost its end, before batch 18"),
        (topic((0, 500)), "made anew, or has lost its end, before batch 18"),  # a partition less
        (topic((0, 600), (0, 600), topic_id="id-2"), "made anew before batch 18"),  # longer than the old one
        (topic((0, 20), (0, 0), name="other"), "topics.events is other, but before batch 18 it was events"),
    ],
)
def test_another_topic_is_refused(there: Topic, said: str) -> None:
    loss = find_loss(AT_500, there)
    assert loss
    assert loss.is_new_topic
    assert said in loss.what
    assert "read up to events-0: offsets 0 to 499, events-1: offsets 0 to 479" in loss.what
    assert "--accept-loss=18" in loss.remedy
    assert "bootstrap.servers" in loss.remedy
    assert loss.offsets == dict.fromkeys(there.offsets, 0)


def test_what_a_new_topic_has_is_named() -> None:
    loss = find_loss(AT_500, topic((0, 20), (0, 0)))
    assert loss
    assert loss.what.endswith("The new one has events-0: offsets 0 to 19, events-1: nothing.")


def test_origins_are_kept_as_text() -> None:
    moved = Origin("events", "id-2", "events#2", moved_at=19)
    assert Origin.of(moved.text()) == moved


def test_records_that_are_no_longer_there() -> None:
    assert begins_after(topic((501, 600), (0, 480)), {0: 500, 1: 480})
    assert not begins_after(topic((500, 600), (0, 480), (7, 9)), {0: 500, 1: 480})
