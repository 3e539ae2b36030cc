"""Topics for subscribers, on a real broker."""

import json
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType  # type: ignore[attr-defined]

from lineproof.local.job_config import job_config
from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.base import EndpointUnavailable
from lineproof.producers.transports.kafka import kafka_transport
from lineproof.schemas.avro import newest
from lineproof.schemas.envelope import Envelope, decode
from lineproof.schemas.record import Record
from lineproof.schemas.registry import Registry, RegistryUnavailable
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.stages.publish import SCHEMAS
from lineproof.topics.cluster import KafkaCluster
from lineproof.topics.tail import TopicNotFound, tail, topic_named
from tests.delivery import wait_for
from tests.end_to_end.subscribers import consuming, ended_runs, example_consumer, records, with_topics
from tests.end_to_end.tools import RunJob, consumed, lineproof, publish
from tests.histories import FACET
from tests.registry import running
from tests.streaming.story import WORLD, dataset, event


def test_published_records_equal_the_tables(settings: Settings, run_job: RunJob, tmp_path: Path) -> None:
    settings = with_topics(settings)
    topics = settings.topics
    publish(settings, runs=5)
    results = [{"assertion": "good", "success": True}, {"assertion": "bad", "success": False}]
    facets = {"dataQualityAssertions": {**FACET, "assertions": results}}
    testing = event(str(uuid.uuid4()), "COMPLETE", 1, "tests", inputs=[dataset(WORLD, "orders", inputFacets=facets)])
    KafkaCluster(settings.kafka).send(topics.events, [Record(b"tests", testing)])
    seen = tmp_path / "seen"
    with consuming(example_consumer(settings), seen):
        run_job(settings)
        expected = ended_runs(settings)
        wait_for(lambda: len(seen.read_text().splitlines()) >= len(expected))
    lines = sorted(line.split() for line in seen.read_text().splitlines())
    assert lines == [[str(value) for value in row] for row in expected]

    tables = Tables(settings.tables_path)
    violations = tables.query(
        "SELECT kind, verdict, subject, run_id, detail FROM violations WHERE kind <> 'emitter'"
    ).rows
    published = [message.record for message in records(settings, topics.violations)]
    assert {violation["kind"] for violation in published} == {"ledger", "quality"}
    columns = ("kind", "verdict", "subject", "run_id", "detail")
    assert sorted(tuple(violation[name] for name in columns) for violation in published) == sorted(violations)
    results_by_id = {
        message.record["result_id"]: message.record["success"] for message in records(settings, topics.quality)
    }
    assert results_by_id == dict(tables.query("SELECT result_id, success FROM quality_results").rows)
    assert sorted(results_by_id.values()) == [False, True]

    admin = AdminClient({**settings.kafka})
    [described] = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topics.runs)]).values()
    assert described.result(timeout=20)["cleanup.policy"].value == "compact"


def test_with_a_registry_records_have_confluent_framing(settings: Settings, tmp_path: Path) -> None:
    """Here: which schema ids the job gets. test_facts and test_law show that it reads and writes the framing."""
    settings = with_topics(settings)
    with running() as server:
        options = server.options
    registry = Registry(options)
    transport = kafka_transport(settings.kafka, settings.topics.events, tmp_path / "spool", registry=registry)
    with pytest.raises(EndpointUnavailable, match="schema registry"):
        transport.confirm(5)
    emitter = Emitter(transport, "tests")
    with emitter.run("registered"):
        pass
    assert not emitter.flush(1)
    assert transport.stats.pending == 2

    with running(server.server_port) as server:
        assert emitter.close(60)
        values = [message.value() for message in consumed(settings, settings.topics.events, 2)]
        (envelope_id,) = registry.envelope_ids(settings.topics.events)
        assert all(value.startswith(b"\x00" + envelope_id.to_bytes(4, "big")) for value in values)

        by_hand = {7: 1}
        config = job_config(settings.model_copy(update={"schema_registry": options, "schema_ids": by_hand}))
        assert config.curate.schema_ids == {envelope_id: 1, **by_hand}
        assert all(isinstance(decode(value, config.curate.schema_ids), Envelope) for value in values)
        assert config.curate.publish
        for kind, target in config.curate.publish.targets.items():
            schema = newest(SCHEMAS[kind])
            assert target.header == schema.header(Registry(options).register(target.topic, schema))
            assert f"{target.topic}-value" in server.subjects

        shown = records(settings, settings.topics.events, schema_ids=registry.registered(settings.topics.events))
        assert sorted(message.record["payload"]["eventType"] for message in shown) == ["COMPLETE", "START"]

    # Without the registry, schema ids are not guessed, and the job does not start.
    assert all("schema id" in message.undecoded for message in records(settings, settings.topics.events))
    with pytest.raises(RegistryUnavailable, match="does not answer"):
        job_config(settings.model_copy(update={"schema_registry": options}))


def test_tail(settings: Settings, tmp_path: Path) -> None:
    broken = [Record(b"key %d" % number, b"no event %d" % number) for number in range(7)]
    good = [Record(b"run", event(str(uuid.uuid4()), "START", minute, "job")) for minute in range(3)]
    topic = settings.topics.events
    KafkaCluster(settings.kafka).send(topic, [*broken, *good])
    messages = [*tail(settings.kafka, topic, {}, last=None, follow=False)]
    assert {(message.key, message.undecoded is None) for message in messages} == {
        *((f"key {number}", False) for number in range(7)),
        ("run", True),
    }
    assert len([*tail(settings.kafka, topic, {}, last=4, follow=False)]) == 4
    assert [*tail(settings.kafka, settings.topics.dead_letters, {}, last=4, follow=False)] == []

    with pytest.raises(TopicNotFound, match=rf"no topic {topic}x\.\nDid you mean {topic}\?.*--create-topics"):
        [*tail(settings.kafka, f"{topic}x", {}, last=4, follow=False)]
    with pytest.raises(TopicNotFound, match=r"topics\.runs is empty"):
        topic_named("runs", {"runs": ""})
    assert topic_named("dead-letters", {"dead_letters": "letters"}) == "letters"
    assert topic_named("other", {"runs": "x"}) == "other"

    broker = f"kafka.bootstrap.servers={settings.kafka['bootstrap.servers']}"
    printed = lineproof("tail", topic, "-n", "3", "-s", broker)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.split()[:4] == ["timestamp", "key", "headers", "record"]
    assert len(printed.stdout.splitlines()) == 4

    empty = lineproof("tail", settings.topics.dead_letters, "-s", broker)
    assert (empty.returncode, empty.stdout) == (0, "")
    assert empty.stderr == f"There are no records on {settings.topics.dead_letters}.\n"

    command = [sys.executable, "-m", "lineproof", "tail", topic, "-f", "-n", "0", "-o", "json", "-s", broker]
    lines, errors = tmp_path / "lines", tmp_path / "errors"
    with lines.open("w") as out, errors.open("w") as err:
        following = subprocess.Popen(command, stdout=out, stderr=err)

    def is_seen() -> bool:
        KafkaCluster(settings.kafka).send(topic, good[:1])  # again, until the consumer has started to read
        return "\n" in lines.read_text()

    try:
        wait_for(is_seen)
        following.send_signal(signal.SIGINT)
        assert following.wait(20) == 0, errors.read_text()
    finally:
        following.kill()
    assert errors.read_text() == ""
    assert json.loads(lines.read_text().splitlines()[0])["record"]["eventType"] == "START"
