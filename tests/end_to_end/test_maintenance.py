"""Maintenance while the job runs loses nothing: the tables equal those of a run without maintenance."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lineproof.local.job_config import job_config
from lineproof.local.job_topics import describe_topics
from lineproof.local.maintenance import maintenance
from lineproof.schemas.record import Record
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming import run as work
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.tables import archive, lineage_events
from lineproof.streaming.upkeep.maintenance import TASKS, MaintenanceResult
from lineproof.streaming.upkeep.stream_progress import StreamProgress
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.tools import RunJob, assert_archive_is_topic, publish, rows, snapshot
from tests.events import payload

TIMEOUT_S = 150
ROUNDS = int(os.environ.get("FAULT_ROUNDS", "10"))
STREAMED_AND_MERGED = ("archive", "lineage_events", "runs", "datasets")
"""Two tables that are read as streams, and two into which rows are merged."""


@pytest.mark.faults
def test_maintenance_while_the_job_runs_loses_nothing(
    spark: SparkSession, settings: Settings, run_job: RunJob, tmp_path: Path
) -> None:
    """Repeated compaction, clustering, retention and vacuum while events arrive, some of them years old."""
    live = settings.model_copy(update={"home": tmp_path / "live", "trigger": "300ms", "graph_trigger": "500ms"})
    done: list[MaintenanceResult] = []
    with running(spark, live):
        for round_number in range(ROUNDS):
            KafkaCluster(settings.kafka).send(
                settings.topics.events, [Record(b"old", value) for value in old_events(round_number)]
            )
            wait_until_all_is_read(spark, live)
            publish(settings, runs=5)
            done += maintenance(spark, live).run(TASKS, STREAMED_AND_MERGED)
        # The streams continue after a commit that deleted rows.
        publish(settings, runs=1)
        wait_until_all_is_read(spark, live)
        maintenance(spark, live).run(("retain",))
    reports = [f"{result.table}: {sentence}" for result in done for sentence in result.done]
    assert any(text.startswith("lineage_events:") and "deleted" in text for text in reports), reports
    assert any(text.startswith("runs:") and "rewritten" in text for text in reports), reports

    quiet = settings.model_copy(update={"topics": settings.topics.model_copy(update={"dead_letters": ""})})
    run_job(quiet)
    assert Tables(quiet.tables_path).query("SELECT count(*) FROM runs WHERE job_name = 'ancient'").rows == [(ROUNDS,)]
    maintenance(spark, quiet).run(("retain",))
    assert snapshot(live) == snapshot(quiet)
    assert rows(live, "archive") == rows(quiet, "archive")
    assert_archive_is_topic(live)
    assert Tables(live.tables_path).query("SELECT count(*) FROM runs WHERE job_name = 'ancient'").rows == [(0,)]
    assert Tables(live.tables_path).query("SELECT description FROM jobs WHERE name = 'ancient'").rows == [("Old.",)]


def old_events(round_number: int) -> list[bytes]:
    """The events of an old run, the only run of its job."""
    documentation = {"_producer": "https://p", "_schemaURL": "https://s", "description": "Old."}
    return [
        payload(
            eventType=kind,
            eventTime=f"2020-01-01T00:{round_number:02}:0{second}Z",
            run={"runId": f"01890000-0000-7000-8000-0000000000{round_number:02}"},
            job={"namespace": "long-ago", "name": "ancient", "facets": {"documentation": documentation}},
        )
        for second, kind in enumerate(("START", "COMPLETE"))
    ]


@contextmanager
def running(spark: SparkSession, settings: Settings) -> Iterator[None]:
    """Run the job in a thread; if it fails, the test fails."""
    stop, failed = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            config = job_config(settings)
            work.run(spark, config, lambda: describe_topics(settings), lambda _: None, stop.is_set, started.set)
        except BaseException as error:
            failed.append(error)
        finally:
            started.set()

    started = threading.Event()
    thread = threading.Thread(target=run)
    thread.start()
    started.wait(TIMEOUT_S)
    try:
        yield
    finally:
        stop.set()
        thread.join(TIMEOUT_S)
        if failed:  # also where the body failed because the job did
            raise failed[0]


def wait_until_all_is_read(spark: SparkSession, settings: Settings) -> None:
    """Wait until every record is archived, and read by curate and graph."""
    count = sum(end - begin for begin, end in KafkaCluster(settings.kafka).offsets(settings.topics.events).values())
    tables = TableReader(spark, settings.tables_path)
    progress = StreamProgress(spark, tables, settings.checkpoints_path)
    deadline = time.monotonic() + TIMEOUT_S
    while tables.read(archive.TABLE).count() < count or any(
        map(progress.unread_since, (archive.TABLE, lineage_events.TABLE))
    ):
        assert time.monotonic() < deadline, "the job did not catch up"
        time.sleep(0.5)
