"""The lineage graph in memory, and the SQL functions that must agree with it."""

import random
import secrets
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from lineproof.serving.lineage_graph import LineageGraph, Node, Step, lineage_graph
from lineproof.serving.open_tables import OpenTables
from tests.streaming.story import story
from tests.tables import make_tables, tables_of


def datasets(*names: str) -> tuple[Node, ...]:
    return tuple(Node("dataset", "n", name) for name in names)


def job(name: str) -> Node:
    return Node("job", "n", name)


def step(of: str, inputs: str, outputs: str) -> Step:
    return Step((job(of),) if of else (), datasets(*inputs), datasets(*outputs))


def walked(graph: LineageGraph, start: Node, up: int, down: int) -> dict[str, int]:
    return {node.name: depth for node, depth in graph.walk(start, up, down).depths.items()}


def test_a_walk_goes_from_dataset_to_job_to_dataset() -> None:
    graph = LineageGraph([step("one", "a", "b"), step("two", "b", "c")], {})
    (b,) = datasets("b")
    assert walked(graph, b, 1, 1) == {"b": 0, "one": -1, "two": 1}
    assert walked(graph, b, 2, 2) == {"b": 0, "one": -1, "two": 1, "a": -2, "c": 2}
    assert walked(graph, job("one"), 1, 3) == {"one": 0, "a": -1, "b": 1, "two": 2, "c": 3}
    assert graph.walk(b, 1, 1).edges == {(job("one"), b), (b, job("two"))}
    assert (graph.before(b), graph.after(b)) == ({job("one")}, {job("two")})
    assert graph.after(job("one")) == {b}


def test_a_job_connects_only_what_a_step_connects() -> None:
    graph = LineageGraph([step("both", "a", "b"), step("both", "c", "d")], {})
    (b,) = datasets("b")
    assert walked(graph, b, 9, 9) == {"b": 0, "both": -1, "a": -2}
    assert graph.datasets_upstream(b) == {*datasets("a")}
    assert graph.datasets_downstream(job("both")) == {*datasets("b", "d")}


def test_two_steps_of_a_job_on_one_way() -> None:
    graph = LineageGraph([step("j", "a", "b"), step("j", "b", "c")], {})
    (c,) = datasets("c")
    assert walked(graph, c, 9, 0) == {"c": 0, "j": -1, "b": -2, "a": -4}


def test_a_dataset_event_connects_datasets_without_a_job() -> None:
    graph = LineageGraph([step("", "a", "b")], {})
    a, b = datasets("a", "b")
    assert graph.walk(b, 1, 0).edges == {(a, b)}
    assert (graph.before(b), graph.after(a)) == ({a}, {b})


def test_cycles_end() -> None:
    graph = LineageGraph([step("one", "ab", "b"), step("two", "b", "a")], {})
    a, b = datasets("a", "b")
    assert walked(graph, a, 99, 99) == {"a": 0, "two": -1, "b": -2, "one": -3}
    assert graph.datasets_upstream(a) == {b}


def test_a_walk_ends_at_the_limit_and_says_so() -> None:
    graph = LineageGraph([step("wide", "abcdefgh", "z")], {})
    (z,) = datasets("z")
    walk = graph.walk(z, 2, 0, limit=5)
    assert (len(walk.depths), walk.is_truncated) == (5, True)
    assert not graph.walk(z, 2, 0).is_truncated
    assert graph.walk(z, 2, 0, limit=5) == walk


def test_the_limit_leaves_room_for_both_sides() -> None:
    graph = LineageGraph([step("before", "abcdefgh", "z"), step("after", "z", "stuvwxy")], {})
    (z,) = datasets("z")
    walk = graph.walk(z, 2, 2, limit=8)
    assert len(walk.depths) == 8
    assert sorted(walk.depths.values()) == [-2, -2, -1, 0, 1, 2, 2, 2]


def test_names_with_colons_and_other_names_are_found() -> None:
    node = Node("dataset", "postgres://h:5432", "a:b")
    graph = LineageGraph([Step((), (), (node,))], {("s3://lake", "a"): node})
    assert graph.by_id("dataset:postgres://h:5432:a:b") == node
    assert graph.by_id("dataset:s3://lake:a") == node
    assert graph.by_id("dataset:nobody") is None
    assert graph.node("dataset", "s3://lake", "a") == node
    assert graph.node("job", "s3://lake", "a") not in graph


def test_the_story(tmp_path: Path) -> None:
    tables = OpenTables(str(tables_of(tmp_path / "t", story()))).now()
    graph = lineage_graph(tables)
    assert lineage_graph(tables) is graph
    report = graph.node("dataset", "world", "report")
    depths = {(node.kind, node.name): depth for node, depth in graph.walk(report, 2, 0).depths.items()}
    jobs = {("job", "report"): -1, ("job", "load"): -1}  # load failed, but states that it writes the report
    assert depths == {("dataset", "report"): 0, **jobs, ("dataset", "clean"): -2}
    assert {node.name for node in graph.datasets_upstream(report)} == {"clean", "orders"}
    assert graph.node("dataset", "s3://lake", "clean") == graph.node("dataset", "world", "clean")


def test_without_tables(tmp_path: Path) -> None:
    graph = lineage_graph(OpenTables(str(tmp_path)).now())
    assert len(graph) == 0
    assert walked(graph, job("unknown"), 3, 3) == {"unknown": 0}


def test_sql_and_graph_agree(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """`lineage_upstream`, `lineage_downstream` and the graph find the same datasets, on random graphs."""
    seed = secrets.randbits(64)
    record_property("seed of test_sql_and_graph_agree", seed)
    draw = random.Random(seed)

    def some(most: int) -> list[dict[str, str]]:
        return [{"namespace": "n", "name": f"d{draw.randrange(30)}"} for _ in range(draw.randrange(most))]

    combinations = [
        {
            "io_id": str(n),
            "jobs": [{"namespace": "n", "name": f"j{draw.randrange(9)}"}],
            "inputs": some(3),
            "outputs": some(3),
        }
        for n in range(25)
    ]
    columns = [
        {
            "edge_id": f"e{n}",
            **{"source_namespace": "n", "source_name": f"d{draw.randrange(30)}", "source_field": "x"},
            **{"target_namespace": "n", "target_name": f"d{draw.randrange(30)}", "target_field": "y"},
        }
        for n in range(5)
    ]
    renamed = [
        {"namespace": "n", "name": f"d{of}", "node_namespace": "n", "node_name": f"d{to}"}
        for of, to in pairwise((1, 2))
    ]
    make_tables(tmp_path / "t", {"job_io": combinations, "column_lineage": columns, "dataset_nodes": renamed})
    tables = OpenTables(str(tmp_path / "t")).now()
    graph = lineage_graph(tables)
    for number in range(0, 30, 3):
        start = graph.node("dataset", "n", f"d{number}")
        for function, found in (
            ("lineage_upstream", graph.datasets_upstream(start)),
            ("lineage_downstream", graph.datasets_downstream(start)),
        ):
            rows = tables.rows(f"SELECT name FROM {function}('n', 'd{number}')")
            assert {row["name"] for row in rows} - {start.name} == {node.name for node in found}, (function, start)
        walk = graph.walk(start, 99, 99)
        upstream = {node for node, depth in walk.depths.items() if depth < 0 and node.kind == "dataset"}
        assert upstream == graph.datasets_upstream(start)
