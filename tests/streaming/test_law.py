"""The law: any permutation, duplication, delay or split of the same events gives the same tables.

Every run draws a new seed for the histories. `LAW_SEED=NUMBER pytest tests/streaming/test_law.py` repeats a run.
"""

import os
import secrets
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.schemas.envelope import Envelope, decode, event_id
from lineproof.schemas.limits import DEFAULT_LIMITS
from lineproof.schemas.views import view_over
from lineproof.streaming.stages.batch import events
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.stages.io_id import of_job_event
from lineproof.streaming.stages.merge_rules import MergeRules
from lineproof.streaming.stages.observations import observations
from lineproof.streaming.tables import (
    column_lineage,
    dataset_nodes,
    dataset_schemas,
    datasets,
    dead_letters,
    job_io,
    jobs,
    lineage_events,
    quality_results,
    runs,
)
from lineproof.streaming.tables import records as records_table
from tests.histories import GARBAGE, arrival
from tests.model import lineage as model_lineage
from tests.model.entities import dataset_schemas as model_dataset_schemas
from tests.model.entities import datasets as model_datasets
from tests.model.entities import jobs as model_jobs
from tests.model.events import lineage_events as model_lineage_events
from tests.model.freshness import World, dataset_loads
from tests.model.quality import quality_results as model_quality_results
from tests.model.runs import runs as model_runs
from tests.streaming.curated import curated, in_utc
from tests.streaming.records import records
from tests.streaming.subscriber import Subscriber

JOB = ("job_namespace", "job_name")
COLUMN_ENDS = (
    *JOB,
    *("source_namespace", "source_name", "source_field", "target_namespace", "target_name", "target_field"),
)
JOB_EDGE = (*JOB, "direction", "dataset_namespace", "dataset_name")
DATASET_EDGE = ("source_namespace", "source_name", "target_namespace", "target_name", *JOB)
GRAPH = (jobs, datasets, dataset_schemas, column_lineage, dataset_nodes, job_io)


@pytest.fixture
def seed(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> int:
    """A new seed, or the one in LAW_SEED. It is printed with a failure and at the end of the run."""
    seed = int(os.environ.get("LAW_SEED") or secrets.randbits(64))
    repeat = f"LAW_SEED={seed} pytest {request.node.nodeid}"
    record_property("repeat with", repeat)
    print(f"repeat with: {repeat}")
    return seed


def test_batches_in_any_order_give_the_tables_of_the_model(spark: SparkSession, seed: int) -> None:
    arrived, subscriber = arrival(seed, runs=120), Subscriber()
    with tempfile.TemporaryDirectory() as root:
        store = curated(spark, root, arrived.batches, repeated=1, on_batch=subscriber.take)
        stored = rows(store.read(lineage_events.TABLE), "event_id")
        assert {key[0]: row["event"] for key, row in stored.items()} == model_lineage_events(arrived.sent)
        by_offset = store.read(records_table.TABLE).orderBy("offset").collect()
        ids = [None if row.reason else row.event_id for row in by_offset]
        assert ids == [None if value in GARBAGE else event_id_of(value) for batch in arrived.batches for value in batch]
        letters = store.read(dead_letters.TABLE).select("value").collect()
        unusable = [value for value in arrived.arrived if value in GARBAGE]
        assert sorted(map(repr, (row.value and bytes(row.value) for row in letters))) == sorted(map(repr, unusable))
        assert_tables(
            arrived.sent,
            {module.TABLE.name: store.read(module.TABLE) for module in (runs, lineage_events, *GRAPH)},
        )
        assert_results(arrived.sent, store.read(quality_results.TABLE))
        subscriber.assert_agrees_with_sql(spark, store)


def test_one_batch_gives_the_tables_of_the_model(spark: SparkSession, seed: int) -> None:
    """Together with the test above, more than 1,000 histories."""
    arrived = arrival(seed, runs=900)
    known = events(facts(records(spark, arrived.arrived), {}).localCheckpoint()).persist()  # as in `open_batch`
    seen = observations(known, known).persist()
    of_runs = merged(runs, runs.single_event_runs(known)).persist()
    with_io = known.withColumn("io_id", of_job_event())
    of_datasets = merged(datasets, datasets.observed_datasets(seen)).persist()
    of_columns = merged(column_lineage, column_lineage.stated_columns(seen, DEFAULT_LIMITS)).persist()
    of_io = job_io.combinations(of_runs, with_io).persist()
    tables = {
        "runs": of_runs,
        "lineage_events": with_io.select("io_id", "event_time"),
        "jobs": merged(jobs, jobs.observed_jobs(seen)),
        "datasets": of_datasets,
        "dataset_schemas": merged(dataset_schemas, dataset_schemas.observed_schemas(seen)),
        "column_lineage": of_columns,
        "dataset_nodes": dataset_nodes.dataset_nodes(of_datasets),
        "job_io": of_io,
    }
    assert_tables(arrived.sent, tables)
    assert_results(arrived.sent, quality_results.quality_results(known))
    for persisted in (known, seen, of_runs, of_datasets, of_columns, of_io):
        persisted.unpersist()


def merged(module: Any, new: DataFrame) -> DataFrame:
    """The table that a first batch with these rows makes: see `BatchWriter.fold`."""
    rules = module.merge_rules(DEFAULT_LIMITS) if hasattr(module, "merge_rules") else module.MERGE
    return cast(DataFrame, rules.merge(new).select(*module.TABLE.columns))


def test_at_most_500_events_of_a_run_are_counted(spark: SparkSession) -> None:
    ids = spark.range(2000).select(F.lit("r").alias("run_id"), F.array(F.xxhash64("id")).alias("event_hashes"))
    for share, size in ((ids.limit(499), 499), (ids, runs.COUNTED_EVENTS)):
        [row] = (
            MergeRules(("run_id",), {"event_hashes": runs.rules(DEFAULT_LIMITS)["event_hashes"]}).merge(share).collect()
        )
        assert len(row.event_hashes) == size


def assert_tables(values: list[bytes], tables: dict[str, DataFrame]) -> None:
    """Compare every table with its model, and `job_io` through the views that are made from it."""
    found_runs = rows(tables["runs"].drop("event_hashes", "io_id"), "run_id")
    assert_equal(found_runs, {(key,): row for key, row in model_runs(values).items()})
    assert_equal(rows(tables["jobs"], "namespace", "name"), model_jobs(values))
    assert_equal(rows(tables["datasets"], "namespace", "name"), model_datasets(values))
    schemas = rows(tables["dataset_schemas"], "namespace", "name", "schema_hash")
    assert_equal(schemas, model_dataset_schemas(values))
    nodes = {key: tuple(row.values())[2:] for key, row in rows(tables["dataset_nodes"], "namespace", "name").items()}
    assert nodes == model_lineage.dataset_nodes(values)
    columns = rows(tables["column_lineage"].drop("edge_id"), *COLUMN_ENDS)
    assert_equal(
        {key: _with_sorted_transformations(row) for key, row in columns.items()},
        {key: _with_sorted_transformations(row) for key, row in model_lineage.column_lineage(values).items()},
    )
    assert_equal(edges("job_edges", tables, JOB_EDGE), model_lineage.job_edges(values))
    assert_equal(edges("dataset_edges", tables, DATASET_EDGE), model_lineage.dataset_edges(values))
    world = World([*model_runs(values).values()], nodes=model_lineage.dataset_nodes(values))
    loads = {(*node, at) for node, times in dataset_loads(world).items() for at in times}
    named = {name: tables[name] for name in ("runs", "dataset_nodes")}
    of_view = tables["runs"].sparkSession.sql(view_over("dataset_loads", named), None, **named)
    assert rows(of_view, "namespace", "name", "loaded_at").keys() == loads


def _with_sorted_transformations(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "first_seen_at": row["first_seen_at"],
        "last_seen_at": row["last_seen_at"],
        "transformations": sorted(row["transformations"], key=repr),
    }


def edges(view: str, tables: dict[str, DataFrame], key: tuple[str, ...]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of a view over these tables, with the last run as a tuple."""
    named = {name: tables[name] for name in ("runs", "lineage_events", "job_io", "column_lineage", "dataset_nodes")}
    found = named["runs"].sparkSession.sql(view_over(view, named), None, **named)
    return {
        identity: {
            "first_seen_at": row["first_seen_at"],
            "last_seen_at": row["last_seen_at"],
            "last_run": row["last_run"] and (row["last_run"]["event_time"], row["last_run"]["run_id"]),
        }
        for identity, row in rows(found, *key).items()
    }


def assert_results(values: list[bytes], of_results: DataFrame) -> None:
    """Compare the test results with the model, without `result_id`, which the model does not compute."""
    found = [{**row, "result_id": None} for row in rows(of_results, "result_id").values()]
    expected = [{**row, "result_id": None} for row in model_quality_results(values)]
    assert sorted(map(_sorted_text, found)) == sorted(map(_sorted_text, expected))
    assert found, "no event has a test result"


def _sorted_text(row: dict[str, Any]) -> str:
    return repr(sorted(row.items()))


def event_id_of(value: bytes | None) -> str:
    """The event id of a value, in an envelope or as plain JSON."""
    decoded = decode(value or b"")
    return event_id(decoded.payload if isinstance(decoded, Envelope) else decoded)


def rows(frame: DataFrame, *key: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Rows as dictionaries, by key."""
    found = [in_utc(row.asDict(recursive=True)) for row in frame.collect()]
    by_key = {tuple(row[name] for name in key): row for row in found}
    assert len(by_key) == len(found), f"{key} is not unique"
    return by_key


def assert_equal(found: Mapping[Any, dict[str, Any]], expected: Mapping[Any, dict[str, Any]]) -> None:
    assert found.keys() == expected.keys()
    differing = [key for key in expected if found[key] != expected[key]]
    if differing:
        key = differing[0]
        columns = [name for name in expected[key] if found[key][name] != expected[key][name]]
        pytest.fail(
            f"{len(differing)} of {len(expected)} rows differ; {key}: "
            f"{[(name, found[key][name], expected[key][name]) for name in columns]}"
        )
