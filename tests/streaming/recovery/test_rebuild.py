"""Tables rebuilt from the archive by the job's own queries, in a place apart (R48)."""

from pathlib import Path

from pyspark.sql import SparkSession

from lineproof.serving.archive import Archive
from lineproof.serving.diff import diff
from lineproof.serving.replay_tables import plan_tables, replay_to_tables, selected
from lineproof.serving.selection import Selection
from lineproof.settings import Settings
from lineproof.streaming.delta.store import Store
from lineproof.streaming.run import Progress
from lineproof.streaming.tables import archive, jobs


def test_a_rebuild_equals_what_it_is_compared_with(spark: SparkSession, sound: Store, tmp_path: Path) -> None:
    """Without a broker; stopped after the first batch and then brought to its end, which makes no difference."""
    live, there = Path(sound.path(archive.TABLE)).parent, tmp_path / "rebuilt"
    settings = Settings(home=tmp_path / "home", tables=str(live))
    batches: list[Progress] = []
    for is_stopping in (lambda: bool(batches), lambda: False):
        plan = plan_tables(settings, Selection(), there)
        replay_to_tables(spark, settings, plan, there, batches.append, is_stopping)
    assert [one.query for one in batches] == ["curate", "graph"]
    found = {one.name: one for one in diff(there, live, tmp_path)}
    assert {name: one.rows for name, one in found.items() if not one.is_same} == {}
    assert found["records"].rows_here == plan.records > 0
    assert found["edges"].rows_here > 0
    assert not (there / "archive").exists()


def test_a_part_is_the_same_for_tables_as_for_a_topic(spark: SparkSession, sound: Store, tmp_path: Path) -> None:
    live = str(Path(sound.path(archive.TABLE)).parent)
    settings = Settings(home=tmp_path / "home", tables=live)
    [job] = sound.read(jobs.TABLE).orderBy("name").limit(1).collect()
    parts = [
        Selection(job=f"{job.namespace}/{job.name}"),
        Selection(since="2020-01-01", until="1s", offsets=("events/0/2-4", "events/0/6")),
    ]
    for number, selection in enumerate(parts):
        plan = plan_tables(settings, selection, tmp_path / f"part-{number}")
        by_spark = [row.offset for row in selected(sound.read(archive.TABLE), plan).select("offset").collect()]
        there = Archive(live, tmp_path)
        by_duckdb = [one.offset for part in plan.parts for some in there.records(plan.selected, part) for one in some]
        assert sorted(by_spark) == by_duckdb
        assert 0 < len(by_spark) < sound.read(archive.TABLE).count()
