"""What an event costs in the tables of graph: rows in proportion to its size, and no rewrite if nothing is new."""

import json
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.schemas.limits import Limits
from lineproof.serving.sql import Tables
from lineproof.streaming.curate import write_graph
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.graph import open_graph_batch
from lineproof.streaming.tables import column_lineage, dataset_nodes, datasets, job_io, jobs, lineage_events, runs
from tests.events import document
from tests.histories import FACET
from tests.streaming.curated import create_tables, curate, curated

RUN_IDS = [f"01890000-0000-7000-8000-{number:012}" for number in range(10)]
COLUMNS = 3


def event(minute: int, inputs: list[Any], outputs: list[Any], run: int = 0, job: str = "job") -> bytes:
    """A run event at a minute after ten."""
    return json.dumps(
        document(
            eventTime=f"2026-01-31T10:{minute:02}:00Z",
            run={"runId": RUN_IDS[run]},
            job={"namespace": "n", "name": job},
            inputs=inputs,
            outputs=outputs,
        )
    ).encode()


def named(name: str, **facets: Any) -> dict[str, Any]:
    stated = {key: {**FACET, **facet} for key, facet in facets.items()}
    return {"namespace": "n", "name": name, **({"facets": stated} if stated else {})}


def wide(size: int) -> bytes:
    """An event with as many inputs as outputs, and some columns from the first input to each output."""
    source = {"namespace": "n", "name": "in-0", "field": "id"}
    columns = {"columnLineage": {"fields": {f"c{number}": {"inputFields": [source]} for number in range(COLUMNS)}}}
    inputs = [named(f"in-{number}") for number in range(size)]
    return event(0, inputs, [named(f"out-{number}", **columns) for number in range(size)])


def linked(name: str, *others: str, kind: str = "TABLE") -> dict[str, Any]:
    return named(name, symlinks={"identifiers": [{"namespace": "n", "name": other, "type": kind} for other in others]})


@pytest.mark.parametrize("size", [30, 60])
def test_the_rows_of_an_event_grow_with_its_size(spark: SparkSession, tmp_path: Path, size: int) -> None:
    """And not with the product of its inputs and outputs, which the views make when they are asked."""
    store = curated(spark, str(tmp_path), [[wide(size)]])
    [combination] = store.read(job_io.TABLE).collect()
    assert (len(combination.inputs), len(combination.outputs)) == (size, size)
    assert store.read(column_lineage.TABLE).count() == COLUMNS * size
    assert store.read(datasets.TABLE).count() == 2 * size
    ask = Tables(str(tmp_path)).query
    assert ask("SELECT count(*) FROM dataset_edges").rows == [(size * size,)]
    assert ask("SELECT count(*) FROM dataset_edges WHERE target_name = 'out-1'").rows == [(size,)]
    assert ask("SELECT count(*), max(depth) FROM lineage_upstream('n', 'out-1')").rows == [(size, 1)]
    assert ask("SELECT count(*), max(depth) FROM lineage_downstream('n', 'in-1')").rows == [(size, 1)]


def test_a_combination_is_stored_once_for_any_number_of_runs(spark: SparkSession, tmp_path: Path) -> None:
    """Start and end in two batches leave a part of the combination behind, which no view shows."""
    half = [event(0, [named("a")], [], run=0)]
    whole = [event(1, [], [named("b")], run=0), event(2, [named("a")], [named("b")], run=1)]
    store = curated(spark, str(tmp_path), [half, [b"{"], whole, [event(3, [named("a")], [named("b")], run=2)]])
    assert store.read(job_io.TABLE).count() == 2
    assert [row.io_id for row in store.read(runs.TABLE).select("io_id").distinct().collect()] == [
        row.io_id for row in store.read(job_io.TABLE).where(F.size("outputs") > 0).collect()
    ]
    found = Tables(str(tmp_path)).query("SELECT direction, dataset_name, last_run.run_id FROM job_edges ORDER BY ALL")
    assert found.rows == [("INPUT", "a", RUN_IDS[2]), ("OUTPUT", "b", RUN_IDS[2])]


def test_a_repetition_in_the_same_hour_rewrites_no_file(spark: SparkSession, tmp_path: Path) -> None:
    """Later events with the same datasets and columns: the hour in which they were last seen is the same."""
    tables = create_tables(spark, str(tmp_path))
    column = {"fields": {"c": {"inputFields": [{"namespace": "n", "name": "a", "field": "id"}]}}}
    described = [linked("b", "d"), named("c", columnLineage=column)]
    first = files_of(tables, [event(1, [named("a")], described, run=0)], number=0, since=1)
    assert all(first.values())
    again = files_of(tables, [event(5, [named("a")], [named("b"), named("c")], run=1)], number=1, since=5)
    assert again == first
    # A facet has the time of the latest event that states it: of two late versions, the later one must win.
    stated = files_of(tables, [event(9, [named("a")], described, run=2)], number=2, since=9)
    assert {name for name, files in stated.items() if files != first[name]} == {"datasets"}


def files_of(tables: TableReader, values: list[bytes], number: int, since: int) -> dict[str, set[str]]:
    """The files of graph's tables after a batch with these values, the first of them at a minute."""
    root = str(Path(tables.path(runs.TABLE)).parent)
    spark = tables.read(runs.TABLE).sparkSession
    curate(spark, root, number, values, number)
    added = tables.read(lineage_events.TABLE).where(f"event_time >= '2026-01-31 10:{since:02}:00'")
    with open_graph_batch(added) as batch:
        write_graph(spark, batch, BatchWriter(spark, root, "graph", number))
    return {
        module.TABLE.name: {*DeltaTable(tables.path(module.TABLE)).file_uris()}
        for module in (job_io, column_lineage, dataset_nodes, jobs, datasets)
    }


def test_a_symlink_moves_only_the_dataset_that_carries_it(spark: SparkSession, tmp_path: Path) -> None:
    """Facets in three batches; the last one takes a symlink back."""
    batches = [
        [event(0, [linked("a", "b", kind="LOCATION"), linked("b", "b", "z", "c")], [named("c"), linked("x", "c")])],
        [event(1, [], [linked("y", "a"), linked("loop", "pool"), linked("pool", "loop")])],
        [b"{"],
        [event(2, [], [named("x", symlinks={"_deleted": True})])],
    ]
    store = curated(spark, str(tmp_path), batches)
    found = {row.name: row.node_name for row in store.read(dataset_nodes.TABLE).collect()}
    assert found == {"a": "c", "b": "c", "y": "c", "pool": "loop"}


def test_what_is_over_a_limit_is_left_out_in_any_order(spark: SparkSession, tmp_path: Path) -> None:
    """The smallest names are kept, and facets that columns are made from in any case."""
    how = [{"type": "DIRECT", "subtype": kind} for kind in "ABC"]
    source = {"namespace": "n", "name": "a", "field": "id", "transformations": how}
    columns = {"fields": {field: {"inputFields": [source]} for field in "cde"}}
    custom = {f"x_{number}": {"a": number} for number in range(4)}
    events = [
        event(0, [named("b"), named("a")], [linked("o", "p", "q", "r"), named("p", columnLineage=columns)], job="k"),
        event(1, [named("c")], [named("p", **custom, documentation={"description": "d"})], job="j"),
    ]
    limits = Limits(datasets=2, jobs=1, facets=2, columns=2, transformations=2, symlinks=2)
    for number, batches in enumerate(([events], [events[:1], [b"{"], events[1:]], [events[1:], [b"{"], events[:1]])):
        store = curated(spark, str(tmp_path / str(number)), batches, limits=limits)
        [run] = store.read(runs.TABLE).collect()
        assert [source.name for source in run.inputs] == ["a", "b"]
        assert [job.name for job in run.jobs] == ["j"]
        [whole] = store.read(job_io.TABLE).where(F.col("io_id") == run.io_id).collect()
        assert [source.name for source in whole.inputs] == ["a", "b"]
        pairs = store.read(column_lineage.TABLE).collect()
        assert {pair.target_field for pair in pairs} == {"c", "d"}
        assert {tuple(way.subtype for way in pair.transformations) for pair in pairs} == {("A", "B")}
        [p] = store.read(datasets.TABLE).where("name = 'p'").collect()
        assert [facet.name for facet in p.facets] == ["columnLineage", "documentation", "x_0", "x_1"]
        [o] = store.read(datasets.TABLE).where("name = 'o'").collect()
        assert [link.name for link in o.symlinks] == ["p", "q"]
