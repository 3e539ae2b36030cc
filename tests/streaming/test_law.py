"""The law: any permutation, duplication, delay or split of the same events gives the same tables (R41, R50)."""

import tempfile
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from lineproof.streaming.tables import archive, dead_letters, lineage_events, runs
from tests import model
from tests.histories import GARBAGE, arrival
from tests.streaming.curated import curated
from tests.streaming.records import records

# An example is a Spark job over many histories: a failing one is told run by run, not shrunk.
SPARK_SIZED = settings(deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])


def rows(frame: DataFrame, key: str) -> dict[str, dict[str, Any]]:
    """Rows by key, as plain Python."""
    found = [in_utc(row.asDict(recursive=True)) for row in frame.collect()]
    by_key = {row[key]: row for row in found}
    assert len(by_key) == len(found), f"{key} is not unique"
    return by_key


def in_utc(value: Any) -> Any:
    """PySpark gives times without a zone, in that of the machine."""
    if isinstance(value, dict):
        return {name: in_utc(member) for name, member in value.items()}
    return value.astimezone(timezone.utc) if isinstance(value, datetime) else value


@settings(SPARK_SIZED, max_examples=1)
@given(seed=st.integers(0, 2**64))
def test_batches_in_any_order_give_the_tables_of_the_model(spark: SparkSession, seed: int) -> None:
    arrived = arrival(seed, runs=120)
    with tempfile.TemporaryDirectory() as root:
        store = curated(spark, root, arrived.batches)
        assert_runs(store.read(runs.TABLE), arrived.sent)
        events = rows(store.read(lineage_events.TABLE), "event_id")
        assert {key: row["event"] for key, row in events.items()} == model.lineage_events(arrived.sent)
        letters = store.read(dead_letters.TABLE).select("value").collect()
        unusable = [value for value in arrived.arrived if value in GARBAGE]
        assert sorted(map(repr, (row.value and bytes(row.value) for row in letters))) == sorted(map(repr, unusable))


@settings(SPARK_SIZED, max_examples=2)
@given(seed=st.integers(0, 2**64))
def test_the_fold_of_one_batch_is_the_models(spark: SparkSession, seed: int) -> None:
    arrived = arrival(seed, runs=500)
    facts = archive.archive(records(spark, arrived.arrived), {}).where("reason IS NULL")
    assert_runs(runs.runs(facts), arrived.sent)


def assert_runs(found: DataFrame, values: list[bytes]) -> None:
    expected = model.runs(values)
    actual = rows(found, "run_id")
    assert actual.keys() == expected.keys()
    differing = [run_id for run_id, row in expected.items() if actual[run_id] != row]
    if differing:
        run_id = differing[0]
        columns = [name for name in expected[run_id] if actual[run_id][name] != expected[run_id][name]]
        of_run = [value for value in values if run_id.encode() in value]
        pytest.fail(
            f"{len(differing)} of {len(expected)} runs differ; {run_id} in {columns}: "
            f"{[(actual[run_id][name], expected[run_id][name]) for name in columns]} for {of_run}"
        )
