"""`--rebuild`: the tables are made again from the archive, and subscribers are not told of it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from lineproof.local.job_config import job_config
from lineproof.local.job_lock import job_lock
from lineproof.local.job_topics import describe_topics
from lineproof.schemas.record import Record
from lineproof.settings import Settings
from lineproof.streaming.job import Job
from lineproof.streaming.recovery.checkpoint import CheckpointError
from lineproof.streaming.recovery.start_over import start_over
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.subscribers import records, with_topics
from tests.end_to_end.test_failures import assert_failed
from tests.end_to_end.tools import RunJob, lineproof, rows, snapshot
from tests.histories import FACET
from tests.jvm_options import SPARK_OPTIONS
from tests.streaming.story import WORLD, dataset, event

FIRST, SECOND, THIRD, FOURTH = (f"00000000-0000-0000-0000-0000000000{number}" for number in range(61, 65))
KINDS = ("runs", "violations", "quality")


def ended(run_id: str, minute: int, *, is_good: bool) -> Record:
    """The end of a run, with a ledger that balances and a test that passes, or not."""
    ledger = {**FACET, "inputRecordCount": 2, "processedCount": 2 if is_good else 1}
    results = {**FACET, "assertions": [{"assertion": "unique", "success": is_good}]}
    tested = dataset(WORLD, "orders", inputFacets={"dataQualityAssertions": results})
    more = {"run": {"cdme_accountingLedger": ledger}, "inputs": [tested]}
    return Record(b"k", event(run_id, "COMPLETE", minute, "load", **more))


def send(settings: Settings, *sent: Record) -> None:
    KafkaCluster(settings.kafka).send(settings.topics.events, sent)


def ends(settings: Settings) -> dict[str, int]:
    """How many records each topic for subscribers has."""
    names = [*(getattr(settings.topics, kind) for kind in KINDS), settings.topics.dead_letters]
    cluster = KafkaCluster(settings.kafka)
    return {name: sum(end for _, end in cluster.offsets(name).values()) for name in names}


@pytest.fixture
def history(settings: Settings, run_job: RunJob) -> Settings:
    """Two batches: a violation of a ledger and of a test, and their end; and a dead letter."""
    settings = with_topics(settings)
    send(settings, ended(FIRST, 1, is_good=False), Record(b"k", b"{"))
    run_job(settings)
    send(settings, ended(FIRST, 2, is_good=True), ended(SECOND, 3, is_good=True))
    run_job(settings)
    return settings


@pytest.fixture
def rebuild(spark: SparkSession, run_job: RunJob) -> Callable[[Settings], list[str]]:
    """Rebuilds the tables, and returns what was said."""

    def start_over_and_run(settings: Settings) -> list[str]:
        said: list[str] = []
        start_over(spark, job_config(settings), said.append)
        run_job(settings)
        return said

    return start_over_and_run


def test_a_rebuild_is_silent(history: Settings, rebuild: Callable[[Settings], list[str]], run_job: RunJob) -> None:
    before, told = snapshot(history), ends(history)
    assert all(told.values())
    last = {message.key: message.record["stands"] for message in records(history, history.topics.violations)}
    assert last
    assert not any(last.values())

    quarantine = Path(history.tables_path, "quarantine", "_delta_log")
    made_at = quarantine.stat().st_ctime
    for _ in range(2):
        [said] = rebuild(history)
        assert "Removed: checkpoint graph, checkpoint curate, runs" in said
        assert "from 4 archived records" in said
        assert snapshot(history) == before
        assert ends(history) == told
    assert quarantine.stat().st_ctime == made_at, "this table cannot be made from the archive"

    # What comes afterwards is published, and only that.
    send(history, ended(THIRD, 4, is_good=False), Record(b"k", b"["))
    run_job(history)
    assert {topic: end - told[topic] for topic, end in ends(history).items()} == {
        history.topics.runs: 1,
        history.topics.violations: 2,
        history.topics.quality: 1,
        history.topics.dead_letters: 1,
    }
    assert len([*Path(history.checkpoints_path, "published", "log").glob("[0-9]*")]) == 1

    # Without the command, by hand, as earlier releases asked for.
    before, told = snapshot(history), ends(history)
    for name in ("curate", "graph"):
        shutil.rmtree(Path(history.checkpoints_path, name))
    with pytest.raises(CheckpointError) as refused:
        run_job(history)
    assert "start once with --rebuild" in refused.value.remedy
    rebuild(history)
    assert (snapshot(history), ends(history)) == (before, told)


def test_records_that_were_not_published_before_a_rebuild_are_published(
    history: Settings, rebuild: Callable[[Settings], list[str]], spark: SparkSession
) -> None:
    """Also if compaction has put them into one file with older records. The old run is published as SQL has it."""
    told = ends(history)
    send(history, ended(FIRST, 5, is_good=True), ended(FOURTH, 6, is_good=True), Record(b"k", b"["))
    job = Job(spark, job_config(history))
    job.prepare()
    job.ingest.check_topics(describe_topics(history))
    job.ingest.start().awaitTermination()
    DeltaTable.forPath(spark, f"{history.tables_path}/archive").optimize().executeCompaction()
    rebuild(history)
    assert {topic: end - told[topic] for topic, end in ends(history).items()} == {
        history.topics.runs: 2,
        history.topics.violations: 2,  # the ledger of the fourth run was never wrong
        history.topics.quality: 2,
        history.topics.dead_letters: 1,
    }
    runs = {message.key: message.record for message in records(history, history.topics.runs)}
    in_tables = dict(rows(history, "(SELECT run_id, last_event_at FROM runs)"))
    assert {key: run["last_event_at"] for key, run in runs.items()} == in_tables


def test_a_position_that_is_behind_repeats_records_and_leaves_none_out(
    settings: Settings, run_job: RunJob, rebuild: Callable[[Settings], list[str]], tmp_path: Path
) -> None:
    """As after a crash between the records of a batch and their position."""
    settings = with_topics(settings)
    send(settings, ended(FIRST, 1, is_good=True))
    run_job(settings)
    published = Path(settings.checkpoints_path, "published")
    shutil.copytree(published, tmp_path / "published")
    send(settings, ended(SECOND, 2, is_good=True))
    run_job(settings)
    shutil.rmtree(published)
    shutil.copytree(tmp_path / "published", published)
    rebuild(settings)
    found = [(message.key, message.record["record_id"]) for message in records(settings, settings.topics.runs)]
    assert sorted(key for key, _ in found) == [FIRST, SECOND, SECOND]
    assert len(set(found)) == 2


def test_dead_letters_of_other_rules_come_alive(
    settings: Settings, run_job: RunJob, rebuild: Callable[[Settings], list[str]]
) -> None:
    """Records that were refused before there were defects, or by `tolerance: strict`; and the other way round."""
    tolerant = with_topics(settings)
    strict = tolerant.model_copy(update={"tolerance": "strict"})
    defective = json.loads(event(FIRST, "COMPLETE", 1, "load"))
    del defective["schemaURL"]
    send(strict, Record(b"k", json.dumps(defective).encode()), ended(SECOND, 2, is_good=True))
    run_job(strict)
    as_strict = snapshot(strict)
    assert rows(strict, "(SELECT reason FROM dead_letters)") == [("missing_schema_url",)]

    rebuild(tolerant)
    assert rows(tolerant, "(SELECT reason FROM dead_letters)") == []
    assert rows(tolerant, "(SELECT run_id, state FROM runs)") == [(FIRST, "COMPLETED"), (SECOND, "COMPLETED")]
    assert rows(tolerant, "(SELECT defects FROM lineage_events)") == [(None,), (["missing_schema_url"],)]

    rebuild(strict)
    assert snapshot(strict) == as_strict


def test_the_command(history: Settings) -> None:
    before, told = snapshot(history), ends(history)
    changed = {
        **{"home": history.home, "trigger": "available-now"},
        **{f"topics.{name}": value for name, value in history.topics.model_dump().items()},
        **{f"kafka.{name}": value for name, value in history.kafka.items()},
        **SPARK_OPTIONS,
    }
    command = ("job", "--rebuild", *(f"--set={name}={value}" for name, value in changed.items()))
    with job_lock(history):
        assert_failed(lineproof(*command), "Another job is running", "--rebuild")
    assert snapshot(history) == before

    done = lineproof(*command)
    assert done.returncode == 0, done.stderr
    assert "Rebuilding from 4 archived records" in " ".join(done.stderr.split())
    assert "curate batch 0: 4 records" in done.stderr
    assert (snapshot(history), ends(history)) == (before, told)
