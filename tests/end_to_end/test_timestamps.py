"""A producer chooses the timestamps of its records. None of them stops ingest, or lays out the archive."""

from datetime import datetime, timedelta, timezone

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType  # type: ignore[attr-defined]
from pyspark.sql import SparkSession

from lineproof.serving.selection import Selection
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.tools import archive_topics, assert_archive_is_topic
from tests.events import payload

ANY_TIME = {"message.timestamp.before.max.ms": str(2**63 - 1), "message.timestamp.after.max.ms": str(2**63 - 1)}
"""Kafka's default before version 4."""
DAY_MS = 86_400_000
NOW_MS = round(datetime.now(timezone.utc).timestamp() * 1000)
LAST_MS = 253_402_300_799_999  # of the year 9999
KEPT = {"old": 1, "ancient": 40 * DAY_MS, "now": NOW_MS, "next century": NOW_MS + 36_500 * DAY_MS, "last": LAST_MS}
REPLACED = {
    **{"none": -1, "before 1970": -2, "before Christ": -100_000_000_000_000, "year 10000": LAST_MS + 1},
    **{"microseconds": NOW_MS * 1000, "nanoseconds": NOW_MS * 10**6, "largest": 2**63 - 1, "smallest": -(2**63) + 2},
}


@pytest.fixture
def any_time(settings: Settings) -> Settings:
    """Settings with a topic that lets producers choose every timestamp."""
    topics = settings.topics.model_copy(update={"events": f"{settings.topics.events}-any"})
    new = NewTopic(topics.events, 2, 1, config=ANY_TIME)
    admin = AdminClient(dict(settings.kafka))
    for future in admin.create_topics([new]).values():
        future.result(30)
    return settings.model_copy(update={"topics": topics})


def produce(settings: Settings, timestamps: dict[str, int]) -> None:
    producer = Producer(dict(settings.kafka))
    for name, timestamp in timestamps.items():
        producer.produce(settings.topics.events, payload(), name.encode(), timestamp=timestamp)
        assert producer.flush(30) == 0


def test_no_timestamp_stops_ingest(any_time: Settings, spark: SparkSession) -> None:
    began = datetime.now(timezone.utc) - timedelta(minutes=1)
    recent = {name: timestamp for name, timestamp in KEPT.items() if timestamp >= NOW_MS}
    produce(any_time, recent)
    archive_topics(spark, any_time)
    produce(any_time, {**recent, **REPLACED, "a": NOW_MS, "b": NOW_MS, "c": NOW_MS, "d": NOW_MS})
    archive_topics(spark, any_time)
    assert archive_topics(spark, any_time) == 0
    assert_archive_is_topic(any_time)

    tables = Tables(any_time.tables_path)
    found = tables.query("SELECT DISTINCT CAST(key AS VARCHAR), epoch_ms(timestamp), timestamp_type FROM archive").rows
    kept = {name: timestamp for name, timestamp, kind in found if kind == 0}
    assert kept == {**recent, **dict.fromkeys("abcd", NOW_MS)}
    replaced = {name: timestamp for name, timestamp, kind in found if kind == -1}
    assert replaced.keys() == REPLACED.keys()
    now = datetime.now(timezone.utc)
    assert all(began.timestamp() * 1000 <= timestamp <= now.timestamp() * 1000 for timestamp in replaced.values())

    # Neither partitions nor time-based selections follow the producer further than its own records.
    days = {row[0] for row in tables.query("SELECT DISTINCT day FROM archive").rows}
    assert days <= {began.date(), now.date()}
    century = datetime.fromtimestamp(NOW_MS / 1000, timezone.utc) + timedelta(days=30_000)
    where = Selection(since=century.isoformat()).where()
    assert {row[0] for row in tables.query(f"SELECT CAST(key AS VARCHAR) FROM archive WHERE {where}").rows} == {
        *("next century", "last")
    }


def test_the_topics_that_lineproof_creates_have_the_time_of_the_broker(settings: Settings) -> None:
    admin = AdminClient(dict(settings.kafka))
    KafkaCluster(settings.kafka).create_topics([f"{settings.topics.events}-compact"], 1, 1, compacted=True)
    for name in (settings.topics.events, settings.topics.dead_letters, f"{settings.topics.events}-compact"):
        [described] = admin.describe_configs([ConfigResource(ResourceType.TOPIC, name)]).values()
        assert described.result(timeout=20)["message.timestamp.type"].value == "LogAppendTime"
