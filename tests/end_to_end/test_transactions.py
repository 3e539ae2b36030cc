"""Records of a transactional producer: what Kafka does not deliver is no loss."""

from collections.abc import Callable

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from lineproof.local.job_config import Recovery
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.recovery.topic import TopicLoss
from tests.end_to_end.tools import archive_topics
from tests.events import payload


def transaction(producer: Producer, topic: str, values: list[bytes], end: Callable[[float], None]) -> None:
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, partition=0)
    producer.flush(30)
    end(30)


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_markers_and_aborted_records_are_not_lost(settings: Settings, spark: SparkSession, level: str) -> None:
    topic = settings.topics.events
    settings = settings.model_copy(update={"isolation_level": level})
    producer = Producer({**settings.kafka, "transactional.id": topic})
    producer.init_transactions(30)
    transaction(producer, topic, [payload()] * 2, producer.commit_transaction)  # 0, 1; marker 2
    transaction(producer, topic, [b"{aborted"] * 3, producer.abort_transaction)  # 3, 4, 5; marker 6
    transaction(producer, topic, [payload()], producer.commit_transaction)  # 7; marker 8
    archive_topics(spark, settings)

    tables = Tables(settings.tables_path)
    gaps = "SELECT first_missing, last_missing, cause FROM archive_gaps WHERE topic = ? AND partition = 0 ORDER BY 1"
    archived = 'SELECT "offset" FROM archive ORDER BY 1'
    missing = [(2, 6)] if level == "read_committed" else [(2, 2), (6, 6)]
    assert tables.query(gaps, topic).rows == [(*bounds, "not delivered") for bounds in missing]
    expected = [0, 1, 7] if level == "read_committed" else [0, 1, 3, 4, 5, 7]
    assert [row[0] for row in tables.query(archived).rows] == expected
    if level == "read_uncommitted":
        return

    # Records that expire are lost, and stay in the view, also if nothing comes after them.
    transaction(producer, topic, [payload()] * 2, producer.commit_transaction)  # 9, 10; marker 11
    admin = AdminClient(dict(settings.kafka))
    for future in admin.delete_records([TopicPartition(topic, 0, 12)]).values():
        future.result(30)
    with pytest.raises(TopicLoss) as refused:
        archive_topics(spark, settings)
    batch = int(refused.value.remedy.partition("--accept-loss=")[2].partition(":")[0])
    archive_topics(spark, settings, Recovery(accept_loss=batch))
    [(first, last, cause)] = [row for row in tables.query(gaps, topic).rows if row[2] != "not delivered"]
    assert (last, cause) == (11, "lost")
    assert first in (8, 9)
    assert tables.query("SELECT first_offset, last_offset FROM accepted_losses").rows == [(first, last)]
