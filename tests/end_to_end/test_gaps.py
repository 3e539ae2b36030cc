"""Find gaps in the archive by comparing it with a real topic. The test writes the archive itself, without Spark."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from deltalake import DeltaTable, write_deltalake
from typer.testing import CliRunner

from lineproof.cli.main import app
from lineproof.schemas.record import Record
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from lineproof.topics.gaps import Gap, GapKind, find_gaps
from tests.end_to_end.tools import consumed

SCHEMA = pa.schema([("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64())])


@pytest.fixture
def archived(settings: Settings) -> Settings:
    """Partition 0 has records 0-3, a transaction marker at 4, and records 5-7; partition 1 has 0-2. All archived."""
    kafka, topic = KafkaCluster(settings.kafka), settings.topics.events
    producer = Producer({**settings.kafka, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    for _ in range(4):
        producer.produce(topic, b"{}", partition=0)
    producer.commit_transaction(30)
    kafka.send(topic, [Record(None, b"{}", partition=partition) for partition in (0, 0, 0, 1, 1, 1)])
    rows = [{"topic": topic, "partition": m.partition(), "offset": m.offset()} for m in consumed(settings, topic, 10)]
    write_deltalake(f"{settings.tables_path}/archive", pa.Table.from_pylist(rows, SCHEMA))
    return settings


def gaps(settings: Settings) -> list[tuple[Any, ...]]:
    found = find_gaps(
        *(Tables(settings.tables_path), [settings.topics.events], KafkaCluster(settings.kafka)),
        *(settings.kafka, settings.isolation_level),
    )
    return [(gap.topic, gap.partition, gap.first, gap.last, gap.offsets, gap.kind) for gap in found]


def invoke(settings: Settings) -> Any:
    places = {
        "tables": settings.tables_path,
        "topics.events": settings.topics.events,
        "kafka.bootstrap.servers": settings.kafka["bootstrap.servers"],
    }
    return CliRunner().invoke(app, ["gaps", *(f"--set={name}={value}" for name, value in places.items())])


def forget(settings: Settings, partition: int, before: int) -> None:
    admin = AdminClient(dict(settings.kafka))
    for future in admin.delete_records([TopicPartition(settings.topics.events, partition, before)]).values():
        future.result(30)


def test_gaps_are_told_from_transaction_markers_and_waiting_records(archived: Settings) -> None:
    topic, archive = archived.topics.events, DeltaTable(f"{archived.tables_path}/archive")
    marker = (topic, 0, 4, 4, 1, GapKind.NOTHING)
    assert gaps(archived) == [marker]
    whole = invoke(archived)
    assert whole.exit_code == 0
    assert "10 records are archived; 0 offsets are lost, or may be." in " ".join(whole.output.split())

    KafkaCluster(archived.kafka).send(topic, [Record(None, b"{}", partition=1)] * 2)
    waiting = (topic, 1, 3, 4, 2, GapKind.WAITING)
    assert gaps(archived) == [marker, waiting]
    assert invoke(archived).exit_code == 0

    archive.delete('partition = 0 AND "offset" IN (3, 5) OR partition = 1 AND "offset" < 2')
    # Three offsets, of which two are records.
    assert gaps(archived) == [(topic, 0, 3, 5, 2, GapKind.MISSING), (topic, 1, 0, 1, 2, GapKind.MISSING), waiting]
    broken = invoke(archived)
    assert broken.exit_code == 3
    assert "MISSING" in broken.output

    # Offsets that the topic no longer has may have been records or transaction markers.
    forget(archived, 0, 5)
    forget(archived, 1, 4)
    assert gaps(archived) == [
        (topic, 0, 3, 4, 2, GapKind.GONE),
        (topic, 0, 5, 5, 1, GapKind.MISSING),
        (topic, 1, 0, 1, 2, GapKind.GONE),
        (topic, 1, 3, 3, 1, GapKind.GONE),
        (topic, 1, 4, 4, 1, GapKind.WAITING),
    ]

    # A recreated topic is archived under another name; the gaps of the old topic are still shown.
    again = {"topic": f"{topic}#2", "partition": 0, "offset": 9}
    write_deltalake(archive, pa.Table.from_pylist([again], SCHEMA), mode="append")
    found = gaps(archived)
    assert (topic, 0, 3, 5, 3, GapKind.GONE) in found
    assert (f"{topic}#2", 0, 8, 9, 2, GapKind.OTHER_TOPIC) in found


def test_without_a_topic_only_the_archive_is_checked(archived: Settings) -> None:
    topics = archived.topics.model_copy(update={"events": f"{archived.topics.events}-gone"})
    gone = archived.model_copy(update={"topics": topics})
    assert gaps(gone) == [(archived.topics.events, 0, 4, 4, 1, GapKind.GONE)]
    assert Gap("t", 0, 4, 4, 1, GapKind.GONE).kind.may_be_loss
    assert Path(gone.tables_path).exists()
