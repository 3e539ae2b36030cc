"""Missing, wrong and old checkpoints, expired offsets, recreated topics: the message names offsets, the advice works.

These tests cover what docs/recovery.md describes.
"""

import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from lineproof.local.job_config import Recovery
from lineproof.local.status import status
from lineproof.quality.row_count_checks import count_rows
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.recovery.checkpoint import CheckpointError
from lineproof.streaming.recovery.topic import TopicLoss
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.tools import RunJob, assert_archive_is_topic, consumed, publish, rows, snapshot

pytestmark = pytest.mark.faults

LOST = "SELECT topic, partition, first_missing, last_missing, missing FROM archive_gaps WHERE cause = 'lost'"
RESTORE = Recovery(restore_checkpoint=True)


def offsets(settings: Settings) -> dict[int, tuple[int, int]]:
    return KafkaCluster(settings.kafka).offsets(settings.topics.events)


def expire(settings: Settings, left: int) -> None:
    """Delete all but the last records of each partition."""
    upto = [
        TopicPartition(settings.topics.events, partition, end - left)
        for partition, (_, end) in offsets(settings).items()
    ]
    admin = AdminClient(dict(settings.kafka))
    for future in admin.delete_records(upto).values():
        future.result(30)


def recreate(settings: Settings) -> None:
    """Delete the topic and create it again."""
    admin = AdminClient(dict(settings.kafka))
    for future in admin.delete_topics([settings.topics.events]).values():
        future.result(30)
    deadline = time.monotonic() + 60
    while not KafkaCluster(settings.kafka).create_topics([settings.topics.events], 2, 1):
        assert time.monotonic() < deadline, "the topic does not go away"
        time.sleep(0.1)


def records(settings: Settings) -> Counter[tuple[Any, ...]]:
    """The records of the topic."""
    count = sum(end - begin for begin, end in offsets(settings).values())
    messages = consumed(settings, settings.topics.events, count)
    return Counter((message.partition(), message.offset(), message.key(), message.value()) for message in messages)


def archived(settings: Settings, name: str) -> Counter[tuple[Any, ...]]:
    """The archived records of a topic name."""
    sql = 'SELECT partition, "offset", key, value FROM archive WHERE topic = ?'
    return Counter(Tables(settings.tables_path).query(sql, name).rows)


def assert_row_counts_agree(settings: Settings) -> None:
    tables = Tables(settings.tables_path)
    for counts in count_rows(lambda sql: tables.query(sql).rows[0][0]):
        assert counts.are_equal, counts


def test_expired_records_and_a_recreated_topic(settings: Settings, run_job: RunJob) -> None:
    topic = settings.topics.events
    publish(settings, runs=3)
    run_job(settings)
    before, reached = records(settings), offsets(settings)

    publish(settings, runs=3)
    expire(settings, left=3)
    current = offsets(settings)
    gone = {
        (topic, partition, reached[partition][1], begin - 1, begin - reached[partition][1])
        for partition, (begin, _) in current.items()
    }
    with pytest.raises(TopicLoss) as refused:
        run_job(settings)
    for _, partition, first, last, _ in gone:
        assert f"{topic}-{partition}: offsets {first} to {last}" in refused.value.what
    assert "--accept-loss=1:" in refused.value.remedy
    with pytest.raises(TopicLoss):
        run_job(settings, Recovery(accept_loss=0))
    run_job(settings, Recovery(accept_loss=1))
    assert archived(settings, topic) == before + records(settings)
    assert_row_counts_agree(settings)

    # The lost records stay visible.
    tables = Tables(settings.tables_path)
    assert set(tables.query(LOST).rows) == gone
    subjects = {row[0] for row in tables.query("SELECT subject FROM violations WHERE kind = 'archive'").rows}
    assert subjects == {f"{topic}-{partition}" for partition in current}

    # Recreated and longer than before: offsets alone would not show it. Its dead letters have old offsets.
    old = archived(settings, topic)
    recreate(settings)
    while any(end <= current[partition][1] for partition, (_, end) in offsets(settings).items()):
        publish(settings, runs=3)
    with pytest.raises(TopicLoss, match=f"The topic {topic} was recreated before batch 3") as refused:
        run_job(settings, Recovery(accept_loss=1))
    for partition, (_, end) in current.items():
        assert f"{topic}-{partition}: offsets 0 to {end - 1}" in refused.value.what
    run_job(settings, Recovery(accept_loss=3))
    assert archived(settings, topic) == old
    assert archived(settings, f"{topic}#2") == records(settings)
    assert_row_counts_agree(settings)
    assert set(tables.query(LOST).rows) == gone
    assert status(settings)["records not archived yet"] == 0

    # Another topic in the settings.
    topics = settings.topics.model_copy(update={"events": f"{topic}-b"})
    other = settings.model_copy(update={"topics": topics})
    KafkaCluster(other.kafka).create_topics([other.topics.events], 3, 1)
    publish(other, runs=3)
    with pytest.raises(TopicLoss, match=f"topics.events is {topic}-b, but before batch 5 it was {topic}"):
        run_job(other)
    run_job(other, Recovery(accept_loss=5))
    assert archived(other, other.topics.events) == records(other)
    assert archived(other, topic) == old
    assert_row_counts_agree(other)
    assert run_job(other) == []


def test_a_checkpoint_is_restored_from_the_archive(
    settings: Settings, run_job: RunJob, spark: SparkSession, tmp_path: Path
) -> None:
    ingest = Path(settings.checkpoints_path, "ingest")
    archive = Path(settings.tables_path, "archive")
    publish(settings, runs=3)
    run_job(settings)
    shutil.copytree(archive, tmp_path / "archive")
    shutil.copytree(ingest, tmp_path / "ingest")
    reached = offsets(settings)
    publish(settings, runs=3)
    run_job(settings)

    def refused(*messages: str) -> None:
        with pytest.raises(CheckpointError) as error:
            run_job(settings)
        for message in messages:
            assert message in error.value.what
        assert "--restore-checkpoint" in error.value.remedy

    def ranges(ends: dict[int, tuple[int, int]]) -> str:
        return ", ".join(
            f"{settings.topics.events}-{partition}: offsets 0 to {end - 1}" for partition, (_, end) in ends.items()
        )

    shutil.rmtree(ingest)
    refused("which is missing", "last written by batch 1 of", ranges(offsets(settings)))
    assert run_job(settings, RESTORE) == []

    shutil.rmtree(ingest)
    shutil.copytree(tmp_path / "ingest", ingest)
    refused("ends at batch 0", "has batch 1", "old copy", ranges(offsets(settings)))
    shutil.rmtree(ingest)
    publish(settings, runs=3)
    run_job(settings, RESTORE)
    assert_archive_is_topic(settings)
    assert_row_counts_agree(settings)

    # An old copy of the archive: missing records are read again, and the other tables are rebuilt.
    whole = snapshot(settings)
    shutil.rmtree(archive)
    shutil.copytree(tmp_path / "archive", archive)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]
    refused("ends at batch 0", "has finished batch 2", "the table is an old copy", ranges(reached))
    shutil.rmtree(settings.checkpoints_path)
    for name in whole:
        shutil.rmtree(Path(settings.tables_path, name))
    run_job(settings, RESTORE)
    assert_archive_is_topic(settings)
    assert snapshot(settings) == whole
    assert rows(settings, "archive_gaps") == []


def test_losses_while_the_job_runs(settings: Settings, tmp_path: Path) -> None:
    config, log = tmp_path / "lineproof.yaml", tmp_path / "stderr"
    # A long trigger interval: the test changes the topic between two batches.
    config.write_text(yaml.safe_dump({**settings.model_dump(mode="json"), "trigger": "10s"}))

    def start(*options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "lineproof", "job", "--config", str(config), *options]
        with log.open("wb") as output:
            return subprocess.Popen(command, stderr=output)

    def output() -> str:
        return " ".join(log.read_text().split())

    def ended(timeout_s: float = 240) -> tuple[int, str]:
        return job.wait(timeout_s), output()

    def wait_for_batch() -> None:
        deadline = time.monotonic() + 240
        while "ingest batch" not in output():
            assert job.poll() is None, output()
            assert time.monotonic() < deadline, output()
            time.sleep(0.1)

    def accept_option() -> str:
        found = re.search(r"--accept-loss=\d+", output())
        assert found
        return found[0]

    publish(settings, runs=3)
    job = start()
    try:
        wait_for_batch()
        deadline = time.monotonic() + 240
        while job.poll() is None:
            publish(settings, runs=1)
            expire(settings, left=1)
            assert time.monotonic() < deadline, output()
        code, message = ended()
        assert code == 1
        ranges = rf"{settings.topics.events}-\d: offsets \d+ to \d+"
        assert re.search(rf"Records expired before batch \d+ could archive them: {ranges}.* The topic now has", message)

        job = start(accept_option())
        wait_for_batch()
        assert "Accepted: Records expired" in output()
        recreate(settings)
        publish(settings, runs=1)
        code, message = ended()
        assert code == 1
        assert f"The topic {settings.topics.events} was recreated before batch" in message

        job = start(accept_option(), "--trigger", "available-now")
        assert ended()[0] == 0, output()
    finally:
        job.kill()
        job.wait(30)
    assert archived(settings, f"{settings.topics.events}#2") == records(settings)
    assert_row_counts_agree(settings)
