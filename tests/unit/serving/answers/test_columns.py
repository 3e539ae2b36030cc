"""The path of one column, and nothing besides it."""

import json
from pathlib import Path
from typing import Any

import pytest

from lineproof.serving.answers.columns import ColumnPath, ColumnQuery, column_path
from lineproof.serving.open_tables import OpenTables, TableSet
from tests.events import document
from tests.tables import tables_of
from tests.unit.serving.answers.world import HOSTILE

FACET = {"_producer": "https://example.com", "_schemaURL": "https://example.com/s"}
Source = tuple[str, str]


def derived(job: str, target: str, fields: dict[str, list[Source]], rows: list[Source] | None = None) -> bytes:
    """An event of a job that makes the columns of a dataset from others."""
    inputs = sorted({name for sources in [*fields.values(), rows or []] for name, _ in sources})
    lineage: dict[str, Any] = {"fields": {name: {"inputFields": stated(sources)} for name, sources in fields.items()}}
    if rows:
        lineage["dataset"] = stated(rows)
    schema = {"fields": [{"name": name, "type": "text"} for name in fields]}
    facets = {"columnLineage": {**FACET, **lineage}, "schema": {**FACET, **schema}}
    return json.dumps(
        document(
            eventType="COMPLETE",
            run={"runId": f"00000000-0000-0000-0000-{abs(hash(job)) % 10**12:012}"},
            job={"namespace": "n", "name": job},
            inputs=[{"namespace": "n", "name": name} for name in inputs],
            outputs=[{"namespace": "n", "name": target, "facets": facets}],
        )
    ).encode()


def stated(sources: list[Source]) -> list[dict[str, Any]]:
    how = [{"type": "DIRECT", "subtype": "IDENTITY", "description": "as it is", "masking": False}]
    return [{"namespace": "n", "name": name, "field": field, "transformations": how} for name, field in sources]


@pytest.fixture(name="shop", scope="module")
def _shop(tmp_path_factory: pytest.TempPathFactory) -> TableSet:
    events = [
        derived("first", "orders", {"id": [("raw", "key")], "price": [("raw", "cents"), ("rates", "rate")]}),
        derived("second", "totals", {"sum": [("orders", "price")]}, [("orders", "id"), ("orders", "deleted")]),
        derived("third", "orders", {"rolling": [("orders", "rolling"), ("orders", "price")]}),
    ]
    return OpenTables(str(tables_of(tmp_path_factory.mktemp("columns") / "tables", events))).now()


def path(tables: TableSet, name: str, field: str, **more: Any) -> ColumnPath:
    found = column_path(tables, ColumnQuery("n", name, field, **more))
    assert found
    places = {(node.id, field) for node in found.nodes for field in node.fields}
    for edge in found.edges:
        assert {(edge.source, edge.source_field), (edge.target, edge.target_field)} <= places
    return found


def steps(found: ColumnPath) -> set[tuple[str, str | None]]:
    def said(id_: str, field: str | None) -> str:
        return f"{id_.removeprefix('dataset:n:')}.{field}"

    return {(said(edge.source, edge.source_field), said(edge.target, edge.target_field)) for edge in found.edges}


def test_only_the_path_of_the_column(shop: TableSet) -> None:
    assert steps(path(shop, "totals", "sum")) == {
        ("orders.price", "totals.sum"),
        ("raw.cents", "orders.price"),
        ("rates.rate", "orders.price"),
    }
    assert steps(path(shop, "orders", "id")) == {("raw.key", "orders.id")}
    assert steps(path(shop, "raw", "key")) == {("raw.key", "orders.id")}


def test_depth(shop: TableSet) -> None:
    assert steps(path(shop, "totals", "sum", up=1)) == {("orders.price", "totals.sum")}
    assert steps(path(shop, "raw", "cents", up=0, down=1)) == {("raw.cents", "orders.price")}


def test_a_column_that_is_made_from_itself(shop: TableSet) -> None:
    found = path(shop, "orders", "rolling", up=1)
    assert steps(found) == {("orders.rolling", "orders.rolling"), ("orders.price", "orders.rolling")}
    [node] = found.nodes
    assert node.fields == ["price", "rolling"]


def test_columns_that_decide_which_rows_there_are(shop: TableSet) -> None:
    without = path(shop, "totals", "sum")
    assert without.row_edges == 2
    shown = path(shop, "totals", "sum", rows=True)
    assert steps(shown) > steps(without)
    assert ("orders.deleted", "totals.None") in steps(shown)
    [totals] = [node for node in shown.nodes if node.name == "totals"]
    assert totals.fields == ["sum", None]


def test_how_and_by_which_job(shop: TableSet) -> None:
    [edge] = path(shop, "orders", "id").edges
    assert [job.name for job in edge.jobs] == ["first"]
    assert [one.description for one in edge.transformations] == ["as it is"]


def test_edges_end_at_their_columns(shop: TableSet) -> None:
    found = path(shop, "totals", "sum", rows=True)
    nodes = {node.id: node for node in found.nodes}
    for edge in found.edges:
        for id_, field, point in (
            (edge.source, edge.source_field, edge.points[0]),
            (edge.target, edge.target_field, edge.points[-1]),
        ):
            node = nodes[id_]
            top = node.y + found.header + found.row * node.fields.index(field)
            assert top < point[1] < top + found.row
            assert top + found.row <= node.y + node.height


def test_a_column_without_lineage_and_an_unknown_one(shop: TableSet, empty: TableSet) -> None:
    events_column = path(shop, "totals", "sum", up=0, down=0)
    assert (len(events_column.nodes), events_column.edges) == (1, [])
    for tables in (shop, empty):
        assert column_path(tables, ColumnQuery("n", "totals", "no such")) is None
        assert column_path(tables, ColumnQuery("n", "no such", "sum")) is None


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_columns(tables: TableSet, name: str) -> None:
    found = column_path(tables, ColumnQuery(name, name, name))
    assert found
    assert [node.fields for node in found.nodes] == [[name]]
    assert tables.rows(found.sql) == []


def test_the_sql_gives_the_steps_next_to_the_column(shop: TableSet) -> None:
    rows = shop.rows(path(shop, "orders", "price").sql)
    assert {(row["source_field"], row["target_field"]) for row in rows} == {
        ("cents", "price"),
        ("rate", "price"),
        ("price", "sum"),
        ("price", "rolling"),
    }


def test_other_names_of_a_dataset(tmp_path: Path) -> None:
    nodes = [{"namespace": "n", "name": "alias", "node_namespace": "n", "node_name": "orders"}]
    events = [derived("first", "alias", {"id": [("raw", "key")]}), derived("next", "end", {"id": [("orders", "id")]})]
    tables = OpenTables(str(tables_of(tmp_path / "tables", events, {"dataset_nodes": nodes}))).now()
    assert steps(path(tables, "alias", "id")) == {("raw.key", "orders.id"), ("orders.id", "end.id")}
