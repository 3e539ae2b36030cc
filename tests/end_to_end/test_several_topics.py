"""One job reads several topics: names and a pattern, with topics that come later, and one that is recreated."""

import shutil
import time
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from lineproof.local.job_config import Recovery, job_config
from lineproof.local.job_topics import describe_topics
from lineproof.schemas.record import Record
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.job import Job
from lineproof.streaming.recovery.topic import TopicLoss
from lineproof.topics.cluster import KafkaCluster
from lineproof.topics.gaps import find_gaps
from tests.delivery import wait_for
from tests.end_to_end.tools import archive_topics, lineproof
from tests.events import payload


def send(settings: Settings, topic: str, count: int) -> None:
    KafkaCluster(settings.kafka).send(topic, [Record(b"%d" % number, payload()) for number in range(count)])


def archived(settings: Settings) -> dict[str, int]:
    return dict(Tables(settings.tables_path).query("SELECT topic, count(*) FROM archive GROUP BY topic").rows)


def recreate(settings: Settings, topic: str) -> None:
    admin = AdminClient(dict(settings.kafka))
    for future in admin.delete_topics([topic]).values():
        future.result(30)
    deadline = time.monotonic() + 60
    while not KafkaCluster(settings.kafka).create_topics([topic], 1, 1):
        assert time.monotonic() < deadline, "the topic does not go away"
        time.sleep(0.1)


def test_names_and_a_pattern(settings: Settings, spark: SparkSession) -> None:
    named = settings.topics.events
    early, late = (f"{named}.team-{team}" for team in ("early", "late"))
    pattern = f"^{named}\\.team-.*e.*"
    topics = settings.topics.model_copy(update={"events": f"{named},{pattern}"})
    settings = settings.model_copy(update={"topics": topics})
    kafka = KafkaCluster(settings.kafka)
    kafka.create_topics([early], 2, 1)
    for topic, count in ((named, 3), (early, 4)):
        send(settings, topic, count)
    archive_topics(spark, settings)
    assert archived(settings) == {named: 3, early: 4}

    # A topic that comes later is read from its beginning; so is one whose first records have expired.
    kafka.create_topics([late, f"{named}.ignored"], 1, 1)
    for topic, count in ((late, 5), (early, 1), (f"{named}.ignored", 1)):
        send(settings, topic, count)
    archive_topics(spark, settings)
    assert archived(settings) == {named: 3, early: 5, late: 5}
    assert [topic.name for topic in describe_topics(settings)] == sorted([named, early, late])

    # One is recreated: only its name changes, and the others continue.
    recreate(settings, early)
    send(settings, early, 2)
    send(settings, late, 1)
    with pytest.raises(TopicLoss, match=f"The topic {early} was recreated") as refused:
        archive_topics(spark, settings)
    batch = int(refused.value.remedy.partition("--accept-loss=")[2].partition(":")[0])
    archive_topics(spark, settings, Recovery(accept_loss=batch))
    assert archived(settings) == {named: 3, early: 5, f"{early}#2": 2, late: 6}
    assert archive_topics(spark, settings) == 0

    # A lost checkpoint is restored for all of them.
    shutil.rmtree(Path(settings.checkpoints_path) / "ingest")
    send(settings, late, 1)
    archive_topics(spark, settings, Recovery(restore_checkpoint=True))
    assert archived(settings) == {named: 3, early: 5, f"{early}#2": 2, late: 7}

    tables = Tables(settings.tables_path)
    assert tables.query("SELECT * FROM archive_gaps").rows == []
    names = [topic.name for topic in describe_topics(settings)]
    assert list(find_gaps(tables, names, kafka, settings.kafka, settings.isolation_level)) == []


def test_a_running_job_picks_up_a_new_topic(spark: SparkSession, settings: Settings) -> None:
    first, second = f"{settings.topics.events}.a", f"{settings.topics.events}.b"
    topics = settings.topics.model_copy(update={"events": f"^{settings.topics.events}\\.[ab]"})
    settings = settings.model_copy(update={"topics": topics, "trigger": "500ms"})
    kafka = KafkaCluster(settings.kafka)
    kafka.create_topics([first], 1, 1)
    send(settings, first, 2)
    job = Job(spark, job_config(settings))
    job.prepare()
    job.ingest.check_topics(describe_topics(settings))
    query = job.ingest.start()
    try:
        wait_for(lambda: archived(settings) == {first: 2})
        kafka.create_topics([second], 1, 1)
        send(settings, second, 3)
        wait_for(lambda: archived(settings) == {first: 2, second: 3})
    finally:
        query.stop()
    job.ingest.check_topics(describe_topics(settings))


def test_a_pattern_alone_names_no_topic_to_publish_to(settings: Settings, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_bytes(payload())
    address = settings.kafka["bootstrap.servers"]
    refused = lineproof(
        "load",
        str(event),
        "--set=topics.events=^x.*",
        f"--set=kafka.bootstrap.servers={address}",
        f"--set=home={tmp_path}",
    )
    assert refused.returncode == 2
    assert "names no topic to publish to" in " ".join(refused.stderr.split())
