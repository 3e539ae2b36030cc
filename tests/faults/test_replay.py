"""Replay the archive after the topic was deleted: to tables, twice, and to a topic and from there to new tables."""

from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from delta.tables import DeltaTable as SparkDeltaTable
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.local.replay import replay_to_tables
from lineproof.serving.diff import TABLES, diff
from lineproof.serving.replay_tables import plan_tables
from lineproof.serving.selection import Selection
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.run import Progress
from lineproof.topics.cluster import KafkaCluster
from lineproof.topics.replay import replay_to_topic
from tests.end_to_end.tools import RunJob, publish, replayed, source_of

pytestmark = pytest.mark.faults

WITH_COORDINATES = {"records": "reason, event_id, run_id, emitter_id, sequence", "dead_letters": "key, value"}


def rebuild(spark: SparkSession, settings: Settings, directory: Path, selection: Selection) -> None:
    """Rebuild the tables; the rebuild is stopped after the first batch and then continued."""
    batches: list[Progress] = []
    for is_stopping in (lambda: bool(batches), lambda: False):
        plan = plan_tables(directory, selection, settings.tables_path, settings.home)
        replay_to_tables(spark, settings, plan, directory, batches.append, is_stopping)
    assert [batch.query for batch in batches] == ["curate", "graph"]


def differing(here: Path | str, there: Path | str, home: Path, names: list[str] | None = None) -> list[str]:
    tables = diff(Path(here), Path(there), home, names or ())
    return [
        f"{table.name}: {[(row.key, row.description) for row in table.rows]}" for table in tables if not table.is_same
    ]


def test_replay_after_the_topic_was_deleted(
    settings: Settings, run_job: RunJob, spark: SparkSession, tmp_path: Path
) -> None:
    publish(settings, runs=10)
    run_job(settings)
    live, home = settings.tables_path, settings.home
    admin = AdminClient(dict(settings.kafka))
    for future in admin.delete_topics([settings.topics.events]).values():
        future.result(30)

    # To tables, without a broker, twice: equal to the live tables. Archive and dead-letter topic do not change.
    version = DeltaTable(f"{live}/archive").version()
    letters = KafkaCluster(settings.kafka).offsets(settings.topics.dead_letters)
    for name in ("once", "twice"):
        rebuild(spark, settings.model_copy(update={"kafka": {}}), tmp_path / name, Selection())
        assert differing(tmp_path / name, live, home) == []
    assert differing(tmp_path / "once", tmp_path / "twice", home) == []
    assert DeltaTable(f"{live}/archive").version() == version
    assert KafkaCluster(settings.kafka).offsets(settings.topics.dead_letters) == letters
    changed = SparkDeltaTable.forPath(spark, str(tmp_path / "twice" / "runs"))
    changed.update("job_name = 'job-1'", {"state": F.lit("FAILED")})
    [found] = differing(tmp_path / "once", tmp_path / "twice", home)
    assert found.count("differs in state'") == 2, found

    # A selection, to tables and to a topic: the same records.
    of_job = Selection(job="tests/job-3", since="1h")
    rebuild(spark, settings, tmp_path / "part", of_job)
    part = Tables(str(tmp_path / "part"))
    assert part.query("SELECT job_name, count(*) FROM runs GROUP BY ALL").rows == [("job-3", 2)]
    source = "topic || '/' || partition || '/' || records.offset"
    chosen = {row[0] for row in part.query(f"SELECT {source} FROM records").rows}
    some, everything = f"{settings.topics.events}-some", f"{settings.topics.events}-all"
    cluster = KafkaCluster(settings.kafka)
    cluster.create_topics([some, everything], 3, 1)
    replay = replay_to_topic(settings.tables_path, settings.home, of_job, cluster, some)
    assert list(replay.run())[-1] == len(chosen)
    assert {source_of(message) for message in replayed(settings, some)} == chosen

    # Everything, to a topic and from there to new tables: equal except for the coordinates.
    replay = replay_to_topic(settings.tables_path, settings.home, Selection(), cluster, everything)
    assert list(replay.run())[-1] == replay.plan.records
    topics = settings.topics.model_copy(update={"events": everything})
    fresh = settings.model_copy(update={"topics": topics, "home": tmp_path / "fresh"})
    run_job(fresh)
    others = [name for name in TABLES if name not in WITH_COORDINATES]
    assert differing(fresh.tables_path, live, home, others) == []
    for name, columns in WITH_COORDINATES.items():
        query = f"SELECT {columns} FROM {name}"
        before, after = (sorted(Tables(root).query(query).rows, key=repr) for root in (live, fresh.tables_path))
        assert before == after
