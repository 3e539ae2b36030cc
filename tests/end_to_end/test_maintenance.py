"""Maintenance during ingestion loses nothing (R54): the tables are those of a quiet run."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lineproof.local.job_config import job_config
from lineproof.local.job_topics import describe_topic
from lineproof.local.maintenance import maintenance
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming import run as work
from lineproof.streaming.delta.store import Store
from lineproof.streaming.tables import archive, lineage_events
from lineproof.streaming.upkeep.maintenance import TASKS, Outcome
from lineproof.streaming.upkeep.stream_progress import StreamProgress
from lineproof.topics.cluster import Kafka
from tests.end_to_end.tools import RunJob, assert_archive_is_topic, publish, rows, snapshot
from tests.events import payload

PATIENCE_S = 150
ROUNDS = int(os.environ.get("FAULT_ROUNDS", "10"))
STREAMS_AND_FOLDS = ("archive", "lineage_events", "runs", "edges")
"""Tables that are read as streams, and two that rows are merged into."""


@pytest.mark.faults
def test_maintenance_beside_the_job_loses_nothing(
    spark: SparkSession, settings: Settings, run_job: RunJob, tmp_path: Path
) -> None:
    """Compaction, clustering, retention and vacuum, again and again, while events come, some of them years old."""
    live = settings.model_copy(update={"home": tmp_path / "live", "trigger": "300ms", "graph_trigger": "500ms"})
    done: list[Outcome] = []
    with running(spark, live):
        for turn in range(ROUNDS):
            Kafka(settings.kafka).send(settings.topics.events, [(b"old", one) for one in old_events(turn)])
            await_all(spark, live)
            publish(settings, runs=5)
            done += maintenance(spark, live).run(TASKS, STREAMS_AND_FOLDS)
        # The streams go on where a DELETE lies behind them.
        publish(settings, runs=1)
        await_all(spark, live)
        maintenance(spark, live).run(("retain",))
    said = [f"{one.table}: {what}" for one in done for what in one.done]
    assert any(one.startswith("lineage_events:") and "deleted" in one for one in said), said
    assert any(one.startswith("runs:") and "rewritten" in one for one in said), said

    quiet = settings.model_copy(update={"topics": settings.topics.model_copy(update={"dead_letters": ""})})
    run_job(quiet)
    assert Tables(quiet.tables_path).query("SELECT count(*) FROM runs WHERE job_name = 'ancient'").rows == [(ROUNDS,)]
    maintenance(spark, quiet).run(("retain",))
    assert snapshot(live) == snapshot(quiet)
    assert rows(live, "archive") == rows(quiet, "archive")
    assert_archive_is_topic(live)
    assert Tables(live.tables_path).query("SELECT count(*) FROM runs WHERE job_name = 'ancient'").rows == [(0,)]
    assert Tables(live.tables_path).query("SELECT description FROM jobs WHERE name = 'ancient'").rows == [("Old.",)]


def old_events(turn: int) -> list[bytes]:
    """A run of long ago, whose job is known from nowhere else."""
    documentation = {"_producer": "https://p", "_schemaURL": "https://s", "description": "Old."}
    return [
        payload(
            eventType=kind,
            eventTime=f"2020-01-01T00:{turn:02}:0{n}Z",
            run={"runId": f"01890000-0000-7000-8000-0000000000{turn:02}"},
            job={"namespace": "long-ago", "name": "ancient", "facets": {"documentation": documentation}},
        )
        for n, kind in enumerate(("START", "COMPLETE"))
    ]


@contextmanager
def running(spark: SparkSession, settings: Settings) -> Iterator[None]:
    """The job, until the end; if it fails, so does the test."""
    stop, failed = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            config = job_config(settings)
            work.run(spark, config, lambda: describe_topic(settings), lambda _: None, stop.is_set, started.set)
        except BaseException as error:
            failed.append(error)
        finally:
            started.set()

    started = threading.Event()
    thread = threading.Thread(target=run)
    thread.start()
    started.wait(PATIENCE_S)
    try:
        yield
    finally:
        stop.set()
        thread.join(PATIENCE_S)
    assert not failed, failed[0]


def await_all(spark: SparkSession, settings: Settings) -> None:
    """Until every record is archived, and read by curate and by graph."""
    count = sum(end - begin for begin, end in Kafka(settings.kafka).offsets(settings.topics.events).values())
    store = Store(spark, settings.tables_path)
    progress = StreamProgress(spark, store, settings.checkpoints_path)
    deadline = time.monotonic() + PATIENCE_S
    while store.read(archive.TABLE).count() < count or any(
        map(progress.unread_since, (archive.TABLE, lineage_events.TABLE))
    ):
        assert time.monotonic() < deadline, "the job did not catch up"
        time.sleep(0.5)
