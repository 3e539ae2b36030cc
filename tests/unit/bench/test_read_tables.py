"""The large tables of benchmarks: complete, of the sizes asked for, and such as the job could have written."""

from pathlib import Path

import pytest

from lineproof.bench.read_tables import ReadTables, make_read_tables
from lineproof.bench.read_tables_sql import DEPTH, PARENTS
from lineproof.serving.lineage_graph import Node, lineage_graph
from lineproof.serving.open_tables import OpenTables, TableSet
from lineproof.streaming.tables.registry import TABLES

RUNS, EDGES = 2000, 400


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ReadTables:
    return make_read_tables(tmp_path_factory.mktemp("tables"), RUNS, EDGES)


@pytest.fixture
def tables(made: ReadTables) -> TableSet:
    return OpenTables(str(made.path)).now()


def test_all_tables_are_there_with_all_columns(made: ReadTables, tables: TableSet) -> None:
    columns = {name: tuple(snapshot.columns) for name, snapshot in tables.snapshots.items()}
    assert columns == {table.name: table.columns for table in TABLES}
    assert {path.name for path in made.path.iterdir()} == columns.keys()  # nothing is left of what was spilled


def test_there_are_as_many_runs_and_edges_as_were_asked_for(tables: TableSet) -> None:
    assert tables.scalar("SELECT count(DISTINCT run_id) FROM runs") == RUNS
    assert tables.scalar("SELECT sum(len(inputs)) FROM job_io") == EDGES
    assert tables.scalar("SELECT count(*) FROM lineage_events WHERE NOT json_valid(event)") == 0
    assert tables.scalar("SELECT count(DISTINCT event_id) FROM lineage_events") == tables.scalar(
        "SELECT sum(event_count) FROM runs"
    )


def test_the_names_to_query_for_exist(made: ReadTables, tables: TableSet) -> None:
    assert tables.scalar("SELECT count(*) FROM runs WHERE run_id = ?", made.run_id) == 1
    most = "SELECT job_namespace, job_name FROM runs GROUP BY ALL ORDER BY count(*) DESC LIMIT 1"
    assert tables.query(most).rows == [made.job]
    graph = lineage_graph(tables)
    walk = graph.walk(Node("dataset", *made.last_dataset), up=2 * DEPTH, down=0)
    assert min(walk.depths.values()) == -2 * DEPTH
    assert Node("dataset", *made.first_dataset) in walk.depths


def test_the_same_sizes_give_the_same_rows(made: ReadTables, tables: TableSet, tmp_path: Path) -> None:
    make_read_tables(tmp_path, RUNS, EDGES)
    again = OpenTables(str(tmp_path)).now()
    for name in tables.versions:
        rows = f"SELECT count(*), sum(hash(t) % 1000000) FROM {name} AS t"
        assert again.query(rows).rows == tables.query(rows).rows, name


def test_sizes_that_make_no_graph_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{PARENTS * DEPTH} edges"):
        make_read_tables(tmp_path, 10, 39)
