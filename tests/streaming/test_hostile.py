"""Hostile values at every place that the job reads: it never fails, no record is lost, and the law holds.

Every run draws a new seed. `LAW_SEED=NUMBER pytest tests/streaming/test_hostile.py` repeats a run.
"""

from pathlib import Path
from random import Random

from pyspark.sql import SparkSession

from lineproof.schemas.tables import DERIVED
from lineproof.serving.sql import Tables
from tests.hostile import hostile_events
from tests.streaming.curated import curated
from tests.streaming.test_law import seed as seed

EVENTS = 10_000
BY_OFFSET = {"records", "dead_letters"}
"""Tables with Kafka coordinates, which differ between two orders of arrival."""


def test_hostile_values_neither_stop_the_job_nor_break_the_law(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    events = hostile_events(seed, EVENTS)
    other_order = chance.sample([*events, *chance.sample(events, EVENTS // 20)], EVENTS + EVENTS // 20)
    cut = chance.randrange(1, EVENTS)
    roots = [str(tmp_path / name) for name in ("one", "other")]
    curated(spark, roots[0], [events])
    curated(spark, roots[1], [other_order[:cut], other_order[cut:]])

    tables, others = map(Tables, roots)
    assert tables.query("SELECT count(*) FROM records").rows == [(EVENTS,)]
    [(dead,)] = tables.query("SELECT count(*) FROM dead_letters").rows
    [(used,)] = tables.query("SELECT count(*) FROM records WHERE reason IS NULL").rows
    assert dead + used == EVENTS
    assert used > EVENTS / 2
    distinct = tables.query("SELECT count(DISTINCT event_id) FROM records WHERE reason IS NULL").rows
    assert tables.query("SELECT count(*) FROM lineage_events").rows == distinct

    for table in (contract.name for contract in DERIVED if contract.name not in BY_OFFSET):
        query = f"SELECT * FROM {table}"
        one, other = (sorted(map(repr, reader.query(query).rows)) for reader in (tables, others))
        assert one == other, f"{table} depends on the order"
    reasons = "SELECT reason, count(DISTINCT value) FROM dead_letters GROUP BY reason ORDER BY reason"
    assert tables.query(reasons).rows == others.query(reasons).rows
