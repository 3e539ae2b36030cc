"""Who sent a record, and what counts of an event by whom it was sent."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from lineproof.schemas.headers import PRINCIPAL, REDRIVEN_FROM
from lineproof.schemas.principals import NO_PRINCIPALS, Principals
from lineproof.serving.sql import Tables
from lineproof.streaming.curate import write_graph
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.graph import open_graph_batch
from lineproof.streaming.tables import lineage_events
from tests.events import document
from tests.streaming.curated import create_tables, curate
from tests.streaming.records import Headers

RULES = Principals(
    namespaces=(("team-a", ("team-a", "team-a.*")), ("*", ("open",))),
    symlinks=("team-a", "team-b"),
    ownership=("team-a",),
    redrive=("operator",),
)


def event(namespace: str, minute: int, **facets: Any) -> bytes:
    dataset = {"namespace": "lake", "name": "orders", "facets": facets}
    job = {"namespace": namespace, "name": "load"}
    time = f"2026-01-31T10:{minute:02}:00Z"
    return json.dumps(document(eventTime=time, job=job, inputs=[], outputs=[dataset])).encode()


def symlinks(name: str) -> dict[str, Any]:
    return {"identifiers": [{"namespace": "lake", "name": name, "type": "TABLE"}]}


def owners(name: str) -> dict[str, Any]:
    return {"owners": [{"name": name, "type": "team"}]}


def tables(spark: SparkSession, root: Path, principals: Principals, sent: Sequence[tuple[Headers, bytes]]) -> Tables:
    """Tables with a batch for each record, and graph over all of them at the end."""
    created = create_tables(spark, str(root))
    for number, (headers, value) in enumerate(sent):
        curate(spark, str(root), number, [value], number, headers, principals=principals)
    with open_graph_batch(created.read(lineage_events.TABLE)) as batch:
        write_graph(spark, batch, BatchWriter(spark, str(root), "graph", 0))
    return Tables(str(root))


def by(principal: str) -> Headers:
    return [(PRINCIPAL, principal.encode())]


def test_what_is_said_by_others_does_not_count(spark: SparkSession, tmp_path: Path) -> None:
    sent: list[tuple[Headers, bytes]] = [
        (by("team-a"), event("team-a.load", 1, symlinks=symlinks("true"), ownership=owners("team-a"))),
        (by("team-a"), event("team-b", 2, symlinks=symlinks("foreign"), ownership=owners("foreign"))),
        (by("team-b"), event("open", 3, symlinks=symlinks("true"), ownership=owners("team-b"))),
        ((), event("open", 4, symlinks=symlinks("false"), documentation={"description": "kept"})),
        ((), event("team-a", 5)),
    ]
    found = tables(spark, tmp_path, RULES, sent)
    assert found.query("SELECT principal FROM records ORDER BY \"offset\"").rows == [
        ("team-a",), ("team-a",), ("team-b",), (None,), (None,),
    ]  # fmt: skip
    assert found.query("SELECT defects FROM lineage_events ORDER BY event_time").rows == [
        (None,),
        (["foreign_namespace"],),
        (["untrusted_ownership"],),
        (["untrusted_symlinks"],),
        (["foreign_namespace"],),
    ]
    [(named, owned, described)] = found.query("SELECT symlinks, owners, description FROM datasets").rows
    assert [link["name"] for link in named] == ["true"]
    assert [owner["name"] for owner in owned] == ["team-a"]
    assert described == "kept"
    assert found.query("SELECT node_name FROM dataset_nodes").rows == [("true",)]


def test_an_untrusted_event_does_not_stand_for_a_trusted_one(spark: SparkSession, tmp_path: Path) -> None:
    """Only the first and the last event with the same facets are read: here both are untrusted."""
    facets = {"ownership": owners("team-a")}
    sent = [(by(who), event("open", minute, **facets)) for minute, who in enumerate(("x", "team-c", "x"))]
    found = tables(spark, tmp_path, Principals(ownership=("team-c",)), sent)
    assert [owner["name"] for owner in found.query("SELECT owners FROM datasets").rows[0][0]] == ["team-a"]


def test_only_those_who_may_replace_dead_letters(spark: SparkSession, tmp_path: Path) -> None:
    again = (REDRIVEN_FROM, b"events/0/0")
    sent = [((*by("team-a"), again), event("open", 1)), ((*by("operator"), again), event("open", 2))]
    found = tables(spark, tmp_path / "bound", RULES, sent)
    assert found.query('SELECT source, "offset" FROM redriven').rows == [("events/0/0", 1)]
    found = tables(spark, tmp_path / "free", NO_PRINCIPALS, sent)
    assert found.query('SELECT source, "offset" FROM redriven ORDER BY ALL').rows == [
        ("events/0/0", 0),
        ("events/0/0", 1),
    ]


def test_the_principal_of_a_topic_counts_more_than_a_header(spark: SparkSession, tmp_path: Path) -> None:
    rules = Principals(topics=(("^ev.*", "of-the-topic"),))
    sent: list[tuple[Headers, bytes]] = [(by("of-the-header"), event("open", 1)), ((), event("open", 2))]
    found = tables(spark, tmp_path, rules, sent)
    assert found.query("SELECT DISTINCT principal FROM records").rows == [("of-the-topic",)]


def test_a_principal_that_is_no_text_is_none(spark: SparkSession, tmp_path: Path) -> None:
    sent: list[tuple[Headers, bytes]] = [
        ([(PRINCIPAL, b"\xff")], event("open", 1)),
        ([(PRINCIPAL, None)], event("open", 2)),
    ]
    found = tables(spark, tmp_path, NO_PRINCIPALS, sent)
    assert found.query("SELECT principal, redrives FROM records").rows == [(None, None), (None, None)]
