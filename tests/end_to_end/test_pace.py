"""Ingest does not wait for its trigger while it is behind, and batches stay as large as the settings allow."""

from pathlib import Path

from deltalake import DeltaTable
from pyspark.sql import SparkSession

from lineproof.local.job_config import job_config
from lineproof.local.job_topics import describe_topics
from lineproof.schemas.record import Record
from lineproof.settings import Settings
from lineproof.streaming.job import Job
from lineproof.topics.cluster import KafkaCluster
from tests.delivery import wait_for
from tests.end_to_end.tools import archive_topics, assert_archive_is_topic
from tests.events import payload

BATCH, RECORDS = 100, 350


def fill(settings: Settings, count: int = RECORDS) -> None:
    KafkaCluster(settings.kafka).send(settings.topics.events, [Record(b"%d" % n, payload()) for n in range(count)])


def test_full_batches_do_not_wait_for_the_trigger(spark: SparkSession, settings: Settings) -> None:
    fill(settings)
    slow = settings.model_copy(update={"trigger": "1h", "max_offsets_per_trigger": BATCH})
    job = Job(spark, job_config(slow))
    job.prepare()
    job.ingest.check_topics(describe_topics(slow))
    query = job.ingest.start()
    try:
        batches: dict[int, int] = {}

        def read() -> int:
            batches.update({batch.batchId: batch.numInputRows for batch in query.recentProgress})
            return sum(batches.values())

        wait_for(lambda: read() > RECORDS - BATCH - len(batches))
        assert max(batches.values()) <= BATCH
        # What is left does not fill a batch, and waits.
        left = RECORDS - read()
        assert 0 < left < BATCH + len(batches)
        fill(settings, BATCH)
        wait_for(lambda: read() > RECORDS)
    finally:
        query.stop()


def test_available_now_reads_everything_in_batches(settings: Settings, spark: SparkSession) -> None:
    fill(settings)
    assert archive_topics(spark, settings.model_copy(update={"max_offsets_per_trigger": BATCH})) == RECORDS
    assert_archive_is_topic(settings)
    checkpoint = Path(settings.checkpoints_path, "ingest", "commits")
    assert len(list(checkpoint.glob("[0-9]*"))) >= RECORDS / BATCH


def test_options_of_the_source_reach_it(settings: Settings, spark: SparkSession) -> None:
    """Eight tasks for two partitions write more than two files."""
    fill(settings)
    archive_topics(spark, settings.model_copy(update={"source": {"minPartitions": "8"}}))
    assert len(DeltaTable(f"{settings.tables_path}/archive").file_uris()) >= 8
    assert_archive_is_topic(settings)
