"""Tables rebuilt from the archive in another directory, with the queries of the job."""

from pathlib import Path

from pyspark.sql import SparkSession

from lineproof.local.replay import replay_to_tables
from lineproof.serving.archive import Archive
from lineproof.serving.diff import diff
from lineproof.serving.replay_tables import plan_tables
from lineproof.serving.selection import Selection
from lineproof.settings import Settings
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.recovery.rebuild import select_records
from lineproof.streaming.run import Progress
from lineproof.streaming.tables import archive, jobs


def test_a_rebuild_equals_the_live_tables(spark: SparkSession, sound: TableReader, tmp_path: Path) -> None:
    """Without a broker. It is stopped after the first batch and then continued, which makes no difference."""
    live, rebuilt = Path(sound.path(archive.TABLE)).parent, tmp_path / "rebuilt"
    settings = Settings(home=tmp_path / "home", tables=str(live))
    batches: list[Progress] = []
    for is_stopping in (lambda: bool(batches), lambda: False):
        plan = plan_tables(rebuilt, Selection(), str(live), tmp_path)
        replay_to_tables(spark, settings, plan, rebuilt, batches.append, is_stopping)
    assert [batch.query for batch in batches] == ["curate", "graph"]
    diffs = {table.name: table for table in diff(rebuilt, live, tmp_path)}
    assert {name: table.rows for name, table in diffs.items() if not table.is_same} == {}
    assert diffs["records"].rows_here == plan.records > 0
    assert diffs["job_io"].rows_here > 0
    assert not (rebuilt / "archive").exists()


def test_spark_selects_the_same_records_as_duckdb(spark: SparkSession, sound: TableReader, tmp_path: Path) -> None:
    """A replay to tables (Spark) and a replay to a topic (DuckDB) read the same records."""
    live = str(Path(sound.path(archive.TABLE)).parent)
    [job] = sound.read(jobs.TABLE).orderBy("name").limit(1).collect()
    selections = [
        Selection(job=f"{job.namespace}/{job.name}"),
        Selection(since="2020-01-01", until="1s", offsets=("events/0/2-4", "events/0/6")),
    ]
    for number, selection in enumerate(selections):
        plan = plan_tables(tmp_path / f"part-{number}", selection, live, tmp_path)
        rows = select_records(sound.read(archive.TABLE), plan.filter.condition, plan.filter.coordinates)
        by_spark = [row.offset for row in rows.select("offset").collect()]
        reader = Archive(live, tmp_path)
        by_duckdb = [
            record.offset
            for offsets in plan.ranges
            for batch in reader.records(plan.filter, offsets)
            for record in batch
        ]
        assert sorted(by_spark) == by_duckdb
        assert 0 < len(by_spark) < sound.read(archive.TABLE).count()
