"""The lineage graph: what is shown around a node, what is known of it, and rows along its edges."""

import csv
import io
import json
from pathlib import Path

import pytest

from lineproof.serving.answers.lineage import FoldNode, Graph, GraphEdge, GraphNode, lineage
from lineproof.serving.answers.lineage_export import as_csv
from lineproof.serving.answers.lineage_shown import LineageQuery
from lineproof.serving.lineage_graph import lineage_graph
from lineproof.serving.open_tables import OpenTables, TableSet
from tests.tables import tables_of
from tests.unit.serving.answers.lineage_events import SIZES, event, pipeline, run_events
from tests.unit.serving.answers.world import HOSTILE


@pytest.fixture(name="shop", scope="module")
def _shop(tmp_path_factory: pytest.TempPathFactory) -> TableSet:
    """raw → load → orders → report → totals, and forty readers of orders."""
    return OpenTables(str(tables_of(tmp_path_factory.mktemp("shop") / "tables", pipeline()))).now()


def around(tables: TableSet, name: str, kind: str = "dataset", **more: object) -> Graph:
    graph = lineage(tables, LineageQuery(kind, "shop", name, **more))  # type: ignore[arg-type]
    assert graph
    assert len({node.id for node in graph.nodes}) == len(graph.nodes)
    known = {node.id for node in graph.nodes}
    assert all({edge.source, edge.target} <= known for edge in graph.edges)
    return graph


def names(graph: Graph) -> set[str]:
    return {node.name for node in graph.nodes if isinstance(node, GraphNode)}


def node(graph: Graph, name: str) -> GraphNode:
    return next(one for one in graph.nodes if isinstance(one, GraphNode) and one.name == name)


def edge(graph: Graph, source: str, target: str) -> GraphEdge:
    ids = node(graph, source).id, node(graph, target).id
    return next(one for one in graph.edges if (one.source, one.target) == ids)


def test_it_opens_with_the_direct_neighbours(shop: TableSet) -> None:
    graph = around(shop, "totals")
    assert names(graph) == {"totals", "report"}
    assert graph.center == "dataset:shop:totals"
    assert (node(graph, "totals").depth, node(graph, "report").depth) == (0, -1)
    assert node(graph, "report").x < node(graph, "totals").x
    report = node(graph, "report")
    assert (report.up.total, report.up.shown, report.up.is_open) == (1, 0, False)
    assert (report.down.total, report.down.shown) == (1, 1)
    assert not graph.truncated


def test_opening_adds_neighbours_and_moves_nothing(shop: TableSet) -> None:
    before = around(shop, "totals")
    after = around(shop, "totals", opened=("up:job:shop:report",))
    assert names(after) == {"totals", "report", "orders"}
    assert {one.id: one.layer for one in before.nodes if isinstance(one, GraphNode)}.items() <= {
        one.id: one.layer for one in after.nodes if isinstance(one, GraphNode)
    }.items()
    assert node(after, "report").up.is_open
    both = around(shop, "totals", opened=("dataset:shop:orders", "up:job:shop:report"))
    assert {"load", "reader 00"} <= names(both), "what is opened may be shown by what is opened after it"


def test_closing_hides_what_only_this_side_shows(shop: TableSet) -> None:
    assert names(around(shop, "totals", up=9)) == {"totals", "report", "orders", "load", "raw"}
    closed = around(shop, "totals", up=9, closed=("up:dataset:shop:orders",))
    assert names(closed) == {"totals", "report", "orders"}
    assert names(around(shop, "totals", closed=("up:dataset:shop:totals",))) == {"totals"}


def test_many_neighbours_are_folded_and_can_be_unfolded(shop: TableSet) -> None:
    graph = around(shop, "orders")
    [fold] = [one for one in graph.nodes if isinstance(one, FoldNode)]
    assert (fold.count, fold.direction, fold.parent) == (41 - 12, "down", "dataset:shop:orders")
    assert fold.names == [f"reader {number}" for number in range(12, 17)]
    orders = node(graph, "orders")
    assert (orders.down.total, orders.down.shown, orders.down.folded) == (41, 12, 29)
    opened = around(shop, "orders", opened=(fold.id,))
    assert not [one for one in opened.nodes if isinstance(one, FoldNode)]
    assert len(opened.nodes) == 1 + 1 + 41
    assert not [one for one in around(shop, "orders", fold=40).nodes if isinstance(one, FoldNode)], "one is not folded"


def test_a_limit_is_said(shop: TableSet) -> None:
    graph = around(shop, "orders", fold=100, limit=20)
    assert graph.truncated
    assert len(graph.nodes) <= 20
    assert graph.limit == 20


def test_runs_and_state_of_jobs(shop: TableSet) -> None:
    load = node(around(shop, "load", "job"), "load")
    assert [bar.state for bar in load.runs] == ["COMPLETED", "COMPLETED", "FAILED", "COMPLETED", "COMPLETED"]
    assert [bar.started_at for bar in load.runs] == sorted(bar.started_at for bar in load.runs if bar.started_at)
    assert (load.trust, load.status) == ("broken", "1 of 5 runs broken")
    assert load.overlays["last_run"].text.startswith("completed")
    assert load.overlays["quality"].trust is None


def test_what_nobody_wrote_is_unknown(shop: TableSet) -> None:
    raw = node(around(shop, "raw"), "raw")
    assert (raw.trust, raw.status) == ("unknown", "no known writer")
    assert {name: one.trust for name, one in raw.overlays.items()} == dict.fromkeys(raw.overlays, "unknown")
    orders = node(around(shop, "orders"), "orders")
    assert orders.overlays["proof"].text.startswith("nothing proves it")
    assert orders.trust != "proven"


def test_rows_are_compared_with_the_last_write_before_the_read(shop: TableSet) -> None:
    graph = around(shop, "orders", up=2)
    written = edge(graph, "load", "orders")
    assert (written.rows_written, written.rows_read, written.label) == (SIZES[-1], None, None)
    same = edge(graph, "orders", "reader 00")
    assert (same.rows_written, same.rows_read, same.difference, same.trust) == (SIZES[-1], SIZES[-1], 0, "proven")
    earlier = edge(graph, "orders", "reader 01")
    assert (earlier.rows_written, earlier.rows_read, earlier.trust) == (SIZES[0], SIZES[0], "proven")
    fewer, more = edge(graph, "orders", "reader 02"), edge(graph, "orders", "reader 03")
    assert (fewer.label, fewer.trust, fewer.difference) == (f"{SIZES[-1]:,} ≠ {SIZES[-1] - 2:,}", "broken", -2)
    assert (more.trust, more.difference) == ("unknown", 1)
    assert edge(graph, "raw", "load").difference is None


def test_it_agrees_with_the_view(shop: TableSet) -> None:
    graph = around(shop, "orders", fold=100)
    rows = shop.rows("SELECT * FROM reconciliation WHERE dataset_name = 'orders'")
    latest = {row["reader_job_name"]: row for row in sorted(rows, key=lambda row: row["read_at"])}
    assert latest
    for job, row in latest.items():
        found = edge(graph, "orders", job)
        assert (found.rows_written, found.rows_read) == (row["rows_written"], row["rows_read"]), job


def test_a_cycle_and_a_dataset_event(tmp_path: Path) -> None:
    rows = [*run_events("a", 0, [("x", 1)], [("y", 1)]), *run_events("b", 1, [("y", 1)], [("x", 1)])]
    tables = OpenTables(str(tables_of(tmp_path / "tables", rows))).now()
    graph = around(tables, "x", up=9, down=9)
    assert names(graph) == {"a", "b", "x", "y"}
    assert len(graph.edges) == 4


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_as_they_are(tables: TableSet, name: str) -> None:
    graph = lineage(tables, LineageQuery("job", name, name))
    assert graph
    assert {one.name for one in graph.nodes if isinstance(one, GraphNode)} == {name, f"{name} in"}
    opened = lineage(tables, LineageQuery("job", name, name, up=0, down=0, opened=(f"up:job:{name}:{name}",)))
    assert opened
    assert names(opened) == {name, f"{name} in"}
    lines = [*csv.reader(io.StringIO(as_csv(graph), newline=""))]
    assert ["job", name, name, "dataset", name, name] in [line[:6] for line in lines]
    json.loads(graph.model_dump_json())


def test_csv_has_one_line_per_edge(shop: TableSet) -> None:
    graph = around(shop, "orders")
    lines = [*csv.DictReader(io.StringIO(as_csv(graph)))]
    assert len(lines) == len(graph.edges) - 1, "the fold is no edge"
    [load] = [line for line in lines if line["source_name"] == "load"]
    assert (load["source_kind"], load["target_kind"], load["target_name"]) == ("job", "dataset", "orders")
    assert (load["rows_written"], load["rows_read"], load["difference"]) == (str(SIZES[-1]), "", "")


def test_unknown_nodes_and_an_empty_installation(tables: TableSet, empty: TableSet) -> None:
    for kind in ("dataset", "job"):
        assert lineage(tables, LineageQuery(kind, "no", "such")) is None
        assert lineage(empty, LineageQuery(kind, "no", "such")) is None


def test_ids_that_do_not_exist_are_passed_over(shop: TableSet) -> None:
    stray = ("up:dataset:no:such", "nonsense", "fold:down:", "", "up:job:shop:report")
    assert names(around(shop, "totals", opened=stray, closed=("down:job:no:such", "x"))) == {
        "totals",
        "report",
        "orders",
    }


def test_every_node_of_the_story_has_a_graph(tables: TableSet) -> None:
    seen = 0
    for row in tables.rows(
        "SELECT 'job' AS kind, namespace, name FROM jobs UNION ALL SELECT 'dataset', namespace, name FROM datasets"
    ):
        graph = lineage(tables, LineageQuery(row["kind"], row["namespace"], row["name"], up=5, down=5))
        assert graph
        assert graph.nodes
        seen += 1
    assert seen > 10
    assert len(lineage_graph(tables)) > 10


def test_a_node_that_is_known_but_not_connected(tmp_path: Path) -> None:
    tables = OpenTables(str(tables_of(tmp_path / "tables", [event("alone", "START", 0, [], [])]))).now()
    graph = around(tables, "alone", "job")
    assert (names(graph), graph.edges) == ({"alone"}, [])
    assert node(graph, "alone").runs
