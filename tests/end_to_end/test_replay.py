"""Replay archived records to a real topic. The test writes the archive itself, without Spark. See also tests/faults."""

import os
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from deltalake import write_deltalake

from lineproof.schemas.headers import REPLAYED_FROM
from lineproof.schemas.record import Record
from lineproof.serving import archive
from lineproof.serving.selection import Selection
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster, KafkaUnavailable
from lineproof.topics.replay import TopicReplay, replay_to_topic
from tests.end_to_end.tools import replayed, source_of
from tests.unit.serving.test_replay import ARCHIVE

HEADERS = [("mark", b"\xff"), ("none", None), (REPLAYED_FROM, b"long/0/ago")]


@pytest.fixture
def archived(settings: Settings) -> dict[str, tuple[bytes | None, bytes | None]]:
    """A hundred records of three partitions, with keys and without; also one without a value."""
    time = datetime(2026, 1, 31, tzinfo=timezone.utc)
    headers = [{"key": name, "value": value} for name, value in HEADERS]
    rows: list[dict[str, Any]] = [
        {
            **{"topic": "old", "partition": number % 3, "offset": number, "timestamp": time, "day": time.date()},
            **{"key": None if number % 2 else b"key", "headers": headers, "value": b"%d" % number if number else None},
        }
        for number in range(100)
    ]
    write_deltalake(f"{settings.tables_path}/archive", pa.Table.from_pylist(rows, ARCHIVE), partition_by=["day"])
    return {f"old/{row['partition']}/{row['offset']}": (row["key"], row["value"]) for row in rows}


def replay_of(settings: Settings, selection: Selection) -> TopicReplay:
    cluster, topic = KafkaCluster(settings.kafka), settings.topics.events
    return replay_to_topic(settings.tables_path, settings.home, selection, cluster, topic)


def in_order(messages: list[Any]) -> Iterator[bool]:
    """Whether the records of one partition go to one partition, in order; of copies, the first counts."""
    last: dict[str, tuple[int, int]] = {}
    seen: set[str] = set()
    for message in messages:
        source = source_of(message)
        if source not in seen:
            seen.add(source)
            partition, offset = source.rsplit("/", 1)
            before, last[partition] = last.get(partition, (-1, -1)), (int(offset), message.partition())
            yield before[0] < int(offset) and before[1] in (-1, message.partition())


def test_a_stopped_replay_continues_without_a_gap(
    settings: Settings, archived: dict[str, tuple[bytes | None, bytes | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "RECORDS_PER_BATCH", 20)
    topic = settings.topics.events  # of two partitions

    def replay() -> TopicReplay:
        return replay_of(settings, Selection())

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    for stopped_after in (1, 2):
        for number, _ in enumerate(replay().run(), 1):
            if number == stopped_after:
                break
    # The broker has the next records, but the position is not saved.
    with monkeypatch.context() as patched:
        patched.setattr(TopicReplay, "_save_position", crash)
        with pytest.raises(KeyboardInterrupt):
            list(replay().run())
    last = replay()
    assert 0 < last.sent < last.plan.records
    assert list(last.run())[-1] == 100
    assert not last.plan.directory.exists(), "the next replay starts from the beginning"

    messages = replayed(settings, topic)
    assert {source_of(message): (message.key(), message.value()) for message in messages} == archived
    assert 0 < len(messages) - len(archived) <= archive.RECORDS_PER_BATCH, "at least once"
    assert all(in_order(messages))
    for message in messages:
        assert message.headers() == [*HEADERS[:2], (REPLAYED_FROM, source_of(message).encode())], (
            "one header, the newest"
        )


def test_the_rate_is_kept(settings: Settings, archived: object) -> None:
    replay = replay_of(settings, Selection(offsets=("old/0/0-20",)))
    began = datetime.now(timezone.utc)
    assert list(replay.run(rate=5)) == [5, 7]
    assert (datetime.now(timezone.utc) - began).total_seconds() >= 1.4


def test_a_recreated_topic_gets_everything(
    settings: Settings, archived: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the records that were sent to the old topic would be missing in the new one."""
    monkeypatch.setattr(archive, "RECORDS_PER_BATCH", 20)
    next(replay_of(settings, Selection()).run())
    assert replay_of(settings, Selection()).sent == 20
    monkeypatch.setattr(KafkaCluster, "topic_id", lambda *_: "another")
    assert replay_of(settings, Selection()).sent == 0


def test_a_record_that_the_topic_refuses_is_an_error(settings: Settings) -> None:
    """Otherwise a replay would continue as if it were delivered."""
    topic = NewTopic(f"{settings.topics.events}-small", 1, 1, config={"max.message.bytes": "1000"})
    admin = AdminClient(dict(settings.kafka))
    for future in admin.create_topics([topic]).values():
        future.result(30)
    with pytest.raises(KafkaUnavailable, match=f"1 records were not delivered to {topic.topic}: .*too large"):
        KafkaCluster(settings.kafka).send(topic.topic, [Record(None, os.urandom(2000))])
