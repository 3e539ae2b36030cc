"""The whole job with a real broker, Spark and Delta."""

import shutil
from collections import Counter
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from lineproof.local.job_config import job_config
from lineproof.quality.row_count_checks import count_rows
from lineproof.schemas.envelope import MAX_RECORD_BYTES, Envelope, decode, event_id
from lineproof.schemas.record import Record
from lineproof.serving.dead_letters import DeadLetters
from lineproof.serving.job_heartbeat import events_not_in_graph, read_heartbeat
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.ingest import read_topics
from lineproof.streaming.job import Job
from lineproof.streaming.recovery.checkpoint import CheckpointError
from lineproof.streaming.tables import archive
from lineproof.topics.cluster import KafkaCluster
from lineproof.topics.redrive import redrive
from tests.bad_input import BAD, USABLE
from tests.end_to_end.tools import RunJob, assert_archive_is_topic, consumed, publish, snapshot
from tests.events import payload


def test_from_topic_to_tables_and_dead_letters(settings: Settings, run_job: RunJob) -> None:
    sent = publish(settings)
    batches = run_job(settings)
    assert sum(batch.rows for batch in batches if batch.query == "ingest") == sent.records

    tables = Tables(settings.tables_path)

    def scalar(sql: str) -> int:
        return int(tables.query(sql).rows[0][0])

    # The row counts agree with each other and with what was sent.
    assert all(counts.are_equal for counts in count_rows(scalar))
    assert scalar("SELECT count(*) FROM archive") == sent.records
    assert scalar("SELECT count(*) FROM lineage_events") == sent.events
    assert scalar("SELECT count(*) FROM dead_letters") == sent.broken

    assert_archive_is_topic(settings)

    # Dead letters are published unchanged, with the reason.
    letters = consumed(settings, settings.topics.dead_letters, sent.broken)
    reasons = tables.query("SELECT value, reason FROM dead_letters").rows
    published = [(m.value(), dict(m.headers())["lineproof.reason"].decode()) for m in letters]
    assert sorted(published, key=repr) == sorted(reasons, key=repr)

    # The states of the unusual runs.
    states = dict(tables.query("SELECT state, count(*) FROM runs GROUP BY state").rows)
    assert (states["FAILED"], states["ABORTED"], states["RUNNING"]) == (1, 1, 1)
    assert tables.query(
        "SELECT ledger_verdict, ledger_difference, successful FROM runs WHERE NOT successful AND state = 'COMPLETED'"
    ).rows == [("unbalanced", 25, False)]
    assert scalar("SELECT duration_ms FROM runs WHERE job_name = 'nightly-index' AND duration_ms = 120000") == 120_000

    # Custom facets are complete.
    team = "event->>'$.run.facets.example_team.team'"
    teams = tables.query(f"SELECT DISTINCT {team} FROM lineage_events WHERE job_name = 'nightly'")
    assert teams.rows == [("data <platform>",)]

    # The heartbeat says how far the job came.
    heartbeat = read_heartbeat(settings.checkpoints_path)
    assert heartbeat is not None
    assert (heartbeat.state, heartbeat.topics()) == ("stopped", [settings.topics.events])
    assert {name: query["rows"] for name, query in heartbeat.queries.items()} == {
        **{"ingest": sent.records, "curate": sent.records, "graph": sent.events}
    }
    assert events_not_in_graph(settings.tables_path, heartbeat) == 0
    heartbeat.queries["graph"]["position"]["reservoirVersion"] = 0
    assert events_not_in_graph(settings.tables_path, heartbeat) == sent.events

    # Without new records, nothing changes.
    before, versions = snapshot(settings), [row[4] for row in tables.overview()[1]]
    assert run_job(settings) == []
    assert [row[4] for row in tables.overview()[1]] == versions

    # The same events again: they are archived, and the lineage stays the same.
    in_topic = consumed(settings, settings.topics.events, sent.records)
    duplicates = [Record(message.key(), message.value()) for message in in_topic if message.key() != b"broken"]
    KafkaCluster(settings.kafka).send(settings.topics.events, duplicates)
    run_job(settings)
    after = snapshot(settings)
    assert len(after.pop("records")) == len(before.pop("records")) + len(duplicates)
    assert after == before
    assert scalar("SELECT count(*) FROM archive") > sent.records


def test_an_archive_written_by_the_delta_sink_of_earlier_releases_is_continued(
    spark: SparkSession, settings: Settings, run_job: RunJob
) -> None:
    """The sink used the query id as the application id of its transactions, too."""
    config, topic = job_config(settings), settings.topics.events
    ingest = config.ingest
    Job(spark, config).prepare()
    KafkaCluster(settings.kafka).send(topic, [Record(b"first", payload())])
    sink = archive.archive(read_topics(spark, ingest)).writeStream.format("delta").trigger(availableNow=True)
    sink.option("checkpointLocation", f"{ingest.checkpoints}/ingest").start(
        f"{ingest.tables}/archive"
    ).awaitTermination()
    KafkaCluster(settings.kafka).send(topic, [Record(b"second", payload())])
    # As if the sink had been killed between its write and its commit to the checkpoint: the batch is repeated.
    commits = Path(ingest.checkpoints) / "ingest" / "commits"
    last = max(commits.glob("[0-9]*"), key=lambda file: int(file.name))
    last.unlink()
    (commits / f".{last.name}.crc").unlink(missing_ok=True)
    run_job(settings)
    assert Tables(settings.tables_path).query("SELECT CAST(key AS VARCHAR) FROM archive ORDER BY 1").rows == [
        ("first",),
        ("second",),
    ]
    assert_archive_is_topic(settings)


def test_every_bad_input_through_the_whole_job(settings: Settings, run_job: RunJob) -> None:
    """No record stops the job, and every record arrives in a table."""
    values = [*(value for value, _ in BAD.values()), *USABLE.values()]
    producer = Producer({**settings.kafka, "message.max.bytes": MAX_RECORD_BYTES})
    for value in values:
        producer.produce(settings.topics.events, value=value, headers={"source": b"\xff\x00", "none": None})
    assert producer.flush(60) == 0
    run_job(settings.model_copy(update={"schema_ids": {7: 1}}))

    tables = Tables(settings.tables_path)
    reasons = dict(tables.query("SELECT reason, count(*) FROM dead_letters GROUP BY reason").rows)
    assert reasons == Counter(reason.value for _, reason in BAD.values())
    usable = {
        event_id(opened.payload if isinstance(opened := decode(value, {7: 1}), Envelope) else opened)
        for value in USABLE.values()
    }
    assert {row[0] for row in tables.query("SELECT event_id FROM lineage_events").rows} == usable
    assert tables.query("SELECT count(*), count(DISTINCT headers) FROM archive").rows == [(len(values), 1)]
    headers = tables.query("SELECT headers FROM dead_letters LIMIT 1").rows[0][0]
    assert headers == [{"key": "source", "value": b"\xff\x00"}, {"key": "none", "value": None}]

    # Re-driven with a fixed payload, and unchanged.
    letters = DeadLetters(settings.tables_path)
    unfixed, fixed = (letters.outlines(reason)[0].record for reason in ("invalid_json", "missing_event_time"))
    kafka = KafkaCluster(settings.kafka)
    assert list(redrive(letters, [unfixed], kafka, settings.topics.events)) == [1]
    assert list(redrive(letters, [fixed], kafka, settings.topics.events, patch=payload())) == [1]
    run_job(settings)
    first, second = letters.named([unfixed, fixed])
    assert (first.outcome, second.outcome) == ("dead again: invalid_json", "resolved")
    assert event_id(payload()) in {row[0] for row in tables.query("SELECT event_id FROM lineage_events").rows}
    query = 'SELECT headers FROM archive SEMI JOIN redriven USING (topic, partition, "offset")'
    sent = [row[0] for row in tables.query(query).rows]
    assert [headers_sent[:2] for headers_sent in sent] == [headers, headers]
    assert {headers_sent[2]["value"].decode() for headers_sent in sent} == {unfixed, fixed}


def test_checkpoints_that_do_not_belong_to_the_tables_are_refused(
    settings: Settings, run_job: RunJob, tmp_path: Path
) -> None:
    publish(settings)
    run_job(settings)
    checkpoints = Path(settings.checkpoints_path)
    saved = tmp_path / "saved"
    shutil.copytree(checkpoints, saved)

    def refused(match: str) -> None:
        with pytest.raises(CheckpointError, match=match):
            run_job(settings)

    def restore() -> None:
        shutil.rmtree(checkpoints, ignore_errors=True)
        shutil.copytree(saved, checkpoints)

    for query in ("ingest", "curate", "graph"):
        shutil.rmtree(checkpoints / query)
        refused("missing")
        restore()

    shutil.rmtree(checkpoints / "curate")
    shutil.copytree(saved / "ingest", checkpoints / "curate")  # a checkpoint of another table
    refused("which has the id")
    restore()

    shutil.move(f"{settings.tables_path}/runs", tmp_path / "runs")
    refused("runs is missing")
    shutil.move(tmp_path / "runs", f"{settings.tables_path}/runs")

    # The advice in the message works: without their checkpoints, the tables are rebuilt from the archive.
    before = snapshot(settings)
    for query in ("curate", "graph"):
        shutil.rmtree(checkpoints / query)
    for name in before:
        shutil.rmtree(f"{settings.tables_path}/{name}")
    run_job(settings)
    assert snapshot(settings) == before

    shutil.rmtree(saved)
    shutil.copytree(checkpoints, saved)
    publish(settings)
    run_job(settings)
    restore()  # which is an old copy now
    refused("old copy")
