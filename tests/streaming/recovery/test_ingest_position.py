"""The position of ingest: read from its checkpoint, moved only on request, restored from the archive."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lineproof.schemas.topic_names import TopicNames
from lineproof.streaming.recovery.ingest_position import IngestPosition, RecordLosses
from lineproof.streaming.recovery.topic import LostRange, SourceTopic, Topic, TopicLoss

ID = "4f6e"
EVENTS = Topic("events", "id-1", {0: (0, 60), 1: (0, 9)})


def checkpoint(path: Path, planned: int, finished: int, name: str = "events") -> None:
    """Write a checkpoint as Spark does: batch N ends at offset 10 * (N + 1) of partition 0, and at 0 of partition 1."""
    for number in range(planned + 1):
        entry(path / "offsets" / str(number), "v1", '{"conf":{}}', json.dumps({name: {"0": 10 * (number + 1), "1": 0}}))
    for number in range(finished + 1):
        entry(path / "commits" / str(number), "v1", "{}")
    entry(path / "sources" / "0" / "0", "\x00v1", json.dumps({name: {"0": 0, "1": 0}}))
    entry(path / "metadata", json.dumps({"id": ID}))


def entry(file: Path, *lines: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines))


def ends(path: Path) -> dict[int, dict[str, dict[str, int]]]:
    return {int(file.name): json.loads(file.read_text().splitlines()[-1]) for file in (path / "offsets").glob("[0-9]*")}


def last(path: Path, log: str) -> int:
    return max((int(file.name) for file in (path / log).glob("[0-9]*")), default=-1)


def check_topic(
    spark: SparkSession, path: Path, topic: Topic, written: int | None = None, accepted: int | None = None
) -> SourceTopic:
    return check_topics(spark, path, [topic], written, accepted)[topic.name]


def check_topics(
    spark: SparkSession,
    path: Path,
    topics: Sequence[Topic],
    written: int | None = None,
    accepted: int | None = None,
    record: RecordLosses = lambda _lost, _batch: None,
) -> dict[str, SourceTopic]:
    archived = {} if written is None else {ID: written}
    return IngestPosition(spark, str(path)).check_topics(topics, archived, accepted, record)


def test_the_first_start_records_the_topic(spark: SparkSession, tmp_path: Path) -> None:
    first = check_topic(spark, tmp_path, EVENTS)
    assert first == SourceTopic("events", "id-1", "events")
    assert IngestPosition(spark, str(tmp_path)).sources() == {"events": first}
    assert IngestPosition(spark, str(tmp_path)).read({}) is None
    check_topic(spark, tmp_path, EVENTS)
    assert last(tmp_path, "topics") == 0


@pytest.mark.parametrize(
    ("planned", "finished", "written", "batch", "offset"),
    [
        (-1, -1, None, 0, 0),
        (0, -1, None, 0, 0),  # planned, nothing written
        (3, 2, 2, 3, 30),
        (3, 2, 3, 4, 40),  # killed between archive and checkpoint
        (3, 3, 3, 4, 40),
    ],
)
def test_the_position_is_where_the_archive_ends(
    spark: SparkSession, tmp_path: Path, planned: int, finished: int, written: int | None, batch: int, offset: int
) -> None:
    checkpoint(tmp_path, planned, finished)
    positions = IngestPosition(spark, str(tmp_path)).read({} if written is None else {ID: written})
    assert positions
    position = positions["events"]
    assert (position.batch, position.offsets) == (batch, {0: offset, 1: 0})
    # A checkpoint of a release that did not record the topic: the current topic is accepted.
    assert check_topic(spark, tmp_path, EVENTS, written) == SourceTopic("events", "id-1", "events")
    assert last(tmp_path, "commits") == finished


def test_expired_records_are_skipped_only_on_request(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint(tmp_path, planned=3, finished=2)
    check_topic(spark, tmp_path, EVENTS, written=2)
    expired = Topic("events", "id-1", {0: (50, 60), 1: (0, 9)})
    for accepted in (None, 2, 4):
        with pytest.raises(TopicLoss, match="events-0: offsets 30 to 49"):
            check_topic(spark, tmp_path, expired, written=2, accepted=accepted)
    assert check_topic(spark, tmp_path, expired, written=2, accepted=3) == SourceTopic(
        "events", "id-1", "events", moved_at=4
    )
    assert ends(tmp_path)[4] == {"events": {"0": 50, "1": 0}}
    assert last(tmp_path, "commits") == 4
    # It continues from there, and the same number accepts no other loss.
    check_topic(spark, tmp_path, expired, written=2)
    with pytest.raises(TopicLoss, match="--accept-loss=5"):
        check_topic(spark, tmp_path, Topic("events", "id-1", {0: (60, 60), 1: (0, 9)}), written=2, accepted=3)


def test_a_new_topic_is_read_from_its_beginning(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint(tmp_path, planned=2, finished=2)
    check_topic(spark, tmp_path, EVENTS, written=2)
    recreated = Topic("events", "id-2", {0: (0, 99)})
    with pytest.raises(TopicLoss, match="was recreated before batch 3"):
        check_topic(spark, tmp_path, recreated, written=2)
    assert check_topic(spark, tmp_path, recreated, 2, accepted=3) == SourceTopic(
        "events", "id-2", "events#2", moved_at=3
    )
    assert ends(tmp_path)[3] == {"events": {"0": 0}}
    other = Topic("other", "id-3", {0: (0, 99)})
    assert check_topic(spark, tmp_path, other, 2, accepted=4) == SourceTopic("other", "id-3", "other", moved_at=4)
    assert check_topic(spark, tmp_path, recreated, 2, accepted=5).archived_as == "events#3"


def test_an_interrupted_move_has_no_effect(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint(tmp_path, planned=2, finished=2)
    check_topic(spark, tmp_path, EVENTS, written=2)
    grown = Topic("events", "id-2", {0: (0, 99), 1: (0, 99)})
    check_topic(spark, tmp_path, grown, 2, accepted=3)
    (tmp_path / "commits" / "3").unlink()
    (tmp_path / "commits" / ".3.crc").unlink()
    with pytest.raises(TopicLoss, match="was recreated before batch 3"):
        check_topic(spark, tmp_path, grown, written=2)
    # The right broker is back: batch 3 reads the old topic.
    assert check_topic(spark, tmp_path, EVENTS, written=2) == SourceTopic("events", "id-1", "events")
    entry(tmp_path / "commits" / "3", "v1", "{}")
    assert IngestPosition(spark, str(tmp_path)).sources() == {"events": SourceTopic("events", "id-1", "events")}


def test_the_records_of_an_archived_batch_may_expire(spark: SparkSession, tmp_path: Path) -> None:
    """If the job was killed between archive and checkpoint, Spark would read the batch again."""
    checkpoint(tmp_path, planned=3, finished=2)
    check_topic(spark, tmp_path, EVENTS, written=3)
    assert last(tmp_path, "commits") == 2
    check_topic(spark, tmp_path, Topic("events", "id-1", {0: (40, 60), 1: (0, 9)}), written=3)
    assert ends(tmp_path)[last(tmp_path, "commits")] == {"events": {"0": 40, "1": 0}}


@pytest.mark.parametrize("batch", [0, 7])
def test_a_lost_checkpoint_is_restored(spark: SparkSession, tmp_path: Path, batch: int) -> None:
    archived = {"events": {0: (0, 500)}, "events#2": {0: (0, 40), 1: (3, 8)}}
    IngestPosition(spark, str(tmp_path)).restore(ID, batch, TopicNames.parse("events"), archived)
    assert json.loads((tmp_path / "metadata").read_text()) == {"id": ID}
    positions = IngestPosition(spark, str(tmp_path)).read({ID: batch})
    assert positions
    position = positions["events"]
    assert (position.batch, position.offsets) == (batch + 1, {0: 40, 1: 8})
    assert position.source.archived_as == "events#2"
    recreated = Topic("events", "id-9", {0: (0, 1)})
    assert check_topic(spark, tmp_path, recreated, batch, accepted=batch + 1).archived_as == "events#3"


def test_several_topics_are_added_dropped_and_recreated_one_by_one(spark: SparkSession, tmp_path: Path) -> None:
    def sources(*topics: Topic, accepted: int | None = None) -> dict[str, tuple[str, int]]:
        found = check_topics(
            spark, tmp_path, topics, 2, accepted, lambda lost, batch: recorded.append((batch, [*lost]))
        )
        return {name: (source.archived_as, source.moved_at) for name, source in found.items()}

    recorded: list[tuple[int, list[LostRange]]] = []
    checkpoint(tmp_path, planned=2, finished=2)
    events, late = EVENTS, Topic("late", "id-l", {0: (5, 9)})
    assert sources(events) == {"events": ("events", -1)}

    # A topic that was not read before begins where it begins, and loses nothing.
    assert sources(events, late) == {"events": ("events", 3), "late": ("late", 3)}
    assert ends(tmp_path)[3] == {"events": {"0": 30, "1": 0}, "late": {"0": 5}}
    assert sources(events, late) == {"events": ("events", 3), "late": ("late", 3)}
    assert last(tmp_path, "offsets") == 3

    # One topic is recreated, the other goes on where it was.
    recreated = Topic("late", "id-m", {0: (0, 99)})
    with pytest.raises(TopicLoss, match="late was recreated before batch 4"):
        sources(events, recreated)
    assert not recorded
    assert sources(events, recreated, accepted=4) == {"events": ("events", 4), "late": ("late#2", 4)}
    assert recorded.pop() == (4, [LostRange("late", 0, 5, None)])
    assert ends(tmp_path)[4] == {"events": {"0": 30, "1": 0}, "late": {"0": 0}}

    # A topic that is dropped and comes back has another name, although it is the same topic.
    with pytest.raises(TopicLoss, match=r"topics\.events is events, but before batch 5 it was events, late"):
        sources(events)
    assert sources(events, accepted=5) == {"events": ("events", 5)}
    assert recorded.pop() == (5, [LostRange("late#2", 0, 0, None)])
    assert IngestPosition(spark, str(tmp_path)).sources()["late"].archived_as == "late#3"
    assert sources(events, recreated) == {"events": ("events", 6), "late": ("late#3", 6)}
    assert not recorded


def test_a_checkpoint_of_several_topics_is_restored(spark: SparkSession, tmp_path: Path) -> None:
    archived = {"a": {0: (0, 5)}, "b": {0: (0, 6)}, "b#2": {0: (0, 7)}, "other": {0: (0, 8)}}
    IngestPosition(spark, str(tmp_path)).restore(ID, 3, TopicNames.parse("a,^b.*"), archived)
    positions = IngestPosition(spark, str(tmp_path)).read({ID: 3})
    assert positions
    assert {name: (position.source.archived_as, position.offsets) for name, position in positions.items()} == {
        "a": ("a", {0: 5}),
        "b": ("b#2", {0: 7}),
    }
    other = [Topic(name, name, {0: (0, 99)}) for name in ("a", "b", "other")]
    assert check_topics(spark, tmp_path, other, 3)["other"].archived_as == "other#2"
