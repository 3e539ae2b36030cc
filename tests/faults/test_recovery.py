"""Lost, foreign and old checkpoints, expired offsets, topics made anew: told with ranges, and the remedy works (R50).

docs/recovery.md promises what is shown here.
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

from lineproof.local.job_runner import Recovery
from lineproof.local.status import status
from lineproof.quality.row_count_checks import entries
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.recovery.checkpoint import CheckpointError
from lineproof.streaming.recovery.topic import TopicLoss
from lineproof.topics.cluster import Kafka
from tests.end_to_end.tools import RunJob, assert_archive_is_topic, consumed, publish, rows, snapshot

pytestmark = pytest.mark.faults

RESTORE = Recovery(restore_checkpoint=True)


def offsets(settings: Settings) -> dict[int, tuple[int, int]]:
    return Kafka(settings.kafka).offsets(settings.topics.events)


def expire(settings: Settings, left: int) -> None:
    """Let the topic forget all but its last records."""
    upto = [TopicPartition(settings.topics.events, one, end - left) for one, (_, end) in offsets(settings).items()]
    admin = AdminClient(dict(settings.kafka))
    for future in admin.delete_records(upto).values():
        future.result(30)


def make_anew(settings: Settings) -> None:
    """Delete the topic and create it again."""
    admin = AdminClient(dict(settings.kafka))
    for future in admin.delete_topics([settings.topics.events]).values():
        future.result(30)
    deadline = time.monotonic() + 60
    while not Kafka(settings.kafka).create_topics([settings.topics.events], 2, 1):
        assert time.monotonic() < deadline, "the topic does not go away"
        time.sleep(0.1)


def records(settings: Settings) -> Counter[tuple[Any, ...]]:
    """What the topic has now."""
    count = sum(end - begin for begin, end in offsets(settings).values())
    messages = consumed(settings, settings.topics.events, count)
    return Counter((one.partition(), one.offset(), one.key(), one.value()) for one in messages)


def archived(settings: Settings, name: str) -> Counter[tuple[Any, ...]]:
    """What the archive has under that name of a topic."""
    sql = 'SELECT partition, "offset", key, value FROM archive WHERE topic = ?'
    return Counter(Tables(settings.tables_path).query(sql, name).rows)


def assert_books_balance(settings: Settings) -> None:
    tables = Tables(settings.tables_path)
    for account in entries(lambda sql: tables.query(sql).rows[0][0]):
        assert account.balances, account


def test_expired_records_and_a_topic_made_anew(settings: Settings, run_job: RunJob) -> None:
    topic = settings.topics.events
    publish(settings, runs=3)
    run_job(settings)
    before, reached = records(settings), offsets(settings)

    publish(settings, runs=3)
    expire(settings, left=3)
    there = offsets(settings)
    gone = {(topic, one, reached[one][1], begin - 1, begin - reached[one][1]) for one, (begin, _) in there.items()}
    with pytest.raises(TopicLoss) as refused:
        run_job(settings)
    for _, partition, first, last, _ in gone:
        assert f"{topic}-{partition}: offsets {first} to {last}" in refused.value.what
    assert "--accept-loss=1:" in refused.value.remedy
    with pytest.raises(TopicLoss):
        run_job(settings, Recovery(accept_loss=0))
    run_job(settings, Recovery(accept_loss=1))
    assert archived(settings, topic) == before + records(settings)
    assert_books_balance(settings)

    # What was lost stays to be seen.
    tables = Tables(settings.tables_path)
    assert set(tables.query("SELECT * FROM archive_gaps").rows) == gone
    subjects = {row[0] for row in tables.query("SELECT subject FROM violations WHERE kind = 'archive'").rows}
    assert subjects == {f"{topic}-{partition}" for partition in there}

    # Made anew, and longer than it was: offsets alone would not tell. Its dead letters have old offsets.
    old = archived(settings, topic)
    make_anew(settings)
    while any(end <= there[partition][1] for partition, (_, end) in offsets(settings).items()):
        publish(settings, runs=3)
    with pytest.raises(TopicLoss, match=f"The topic {topic} was made anew before batch 3") as refused:
        run_job(settings, Recovery(accept_loss=1))
    for partition, (_, end) in there.items():
        assert f"{topic}-{partition}: offsets 0 to {end - 1}" in refused.value.what
    run_job(settings, Recovery(accept_loss=3))
    assert archived(settings, topic) == old
    assert archived(settings, f"{topic}#2") == records(settings)
    assert_books_balance(settings)
    assert set(tables.query("SELECT * FROM archive_gaps").rows) == gone
    assert status(settings)["records not archived yet"] == 0

    # Another topic, by the settings.
    topics = settings.topics.model_copy(update={"events": f"{topic}-b"})
    other = settings.model_copy(update={"topics": topics})
    Kafka(other.kafka).create_topics([other.topics.events], 3, 1)
    publish(other, runs=3)
    with pytest.raises(TopicLoss, match=f"topics.events is {topic}-b, but before batch 5 it was {topic}"):
        run_job(other)
    run_job(other, Recovery(accept_loss=5))
    assert archived(other, other.topics.events) == records(other)
    assert archived(other, topic) == old
    assert_books_balance(other)
    assert run_job(other) == []


def test_a_checkpoint_is_made_anew_from_the_archive(
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

    def refused(*said: str) -> None:
        with pytest.raises(CheckpointError) as error:
            run_job(settings)
        for words in said:
            assert words in error.value.what
        assert "--restore-checkpoint" in error.value.remedy

    def ranges(ends: dict[int, tuple[int, int]]) -> str:
        return ", ".join(f"{settings.topics.events}-{one}: offsets 0 to {end - 1}" for one, (_, end) in ends.items())

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
    assert_books_balance(settings)

    # An old copy of the archive: what it lacks is read again, and the other tables are rebuilt.
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
    # Rarely enough that between two batches there is time to do harm.
    config.write_text(yaml.safe_dump({**settings.model_dump(mode="json"), "trigger": "10s"}))

    def start(*options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "lineproof", "job", "--config", str(config), *options]
        with log.open("wb") as output:
            return subprocess.Popen(command, stderr=output)

    def said() -> str:
        return " ".join(log.read_text().split())

    def ended(timeout_s: float = 240) -> tuple[int, str]:
        return job.wait(timeout_s), said()

    def await_batch() -> None:
        deadline = time.monotonic() + 240
        while "ingest batch" not in said():
            assert job.poll() is None, said()
            assert time.monotonic() < deadline, said()
            time.sleep(0.1)

    def accepting() -> str:
        found = re.search(r"--accept-loss=\d+", said())
        assert found
        return found[0]

    publish(settings, runs=3)
    job = start()
    try:
        await_batch()
        deadline = time.monotonic() + 240
        while job.poll() is None:
            publish(settings, runs=1)
            expire(settings, left=1)
            assert time.monotonic() < deadline, said()
        code, message = ended()
        assert code == 1
        ranges = rf"{settings.topics.events}-\d: offsets \d+ to \d+"
        assert re.search(rf"Records expired before batch \d+ could archive them: {ranges}.* The topic now has", message)

        job = start(accepting())
        await_batch()
        assert "Accepted: Records expired" in said()
        make_anew(settings)
        publish(settings, runs=1)
        code, message = ended()
        assert code == 1
        assert f"The topic {settings.topics.events} was made anew before batch" in message

        job = start(accepting(), "--trigger", "available-now")
        assert ended()[0] == 0, said()
    finally:
        job.kill()
        job.wait(30)
    assert archived(settings, f"{settings.topics.events}#2") == records(settings)
    assert_books_balance(settings)
