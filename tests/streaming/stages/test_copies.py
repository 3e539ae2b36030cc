"""Copies of an event whose records differ: which one is read first does not decide what the tables say."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from pyspark.sql import SparkSession

from lineproof.schemas.envelope import event_id
from lineproof.schemas.headers import PRINCIPAL
from lineproof.schemas.principals import Principals
from lineproof.schemas.tables import DERIVED
from lineproof.serving.sql import Tables
from lineproof.streaming.curate import write_graph
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.graph import open_graph_batch
from lineproof.streaming.tables import lineage_events
from tests.events import document
from tests.streaming.curated import create_tables, curate
from tests.streaming.records import TIME

OWNERS = {"owners": [{"name": "team-a", "type": "team"}]}
OUTPUT = {"namespace": "lake", "name": "orders", "facets": {"ownership": OWNERS}}
EVENT = json.dumps(document(eventTime=(TIME + timedelta(days=3)).isoformat(), outputs=[OUTPUT])).encode()
COPIES = (
    ("team-a", TIME),
    ("stranger", TIME),
    ("team-a", TIME + timedelta(days=4)),
    ("stranger", TIME + timedelta(days=5)),
)
"""Who sent it, and when Kafka got it: the first two copies are of an event in the future."""
BY_OFFSET = {"records", "dead_letters"}


def tables_of(spark: SparkSession, root: str, copies: Sequence[tuple[str, datetime]]) -> dict[str, list[str]]:
    created = create_tables(spark, root)
    for number, (principal, time) in enumerate(copies):
        headers = [(PRINCIPAL, principal.encode())]
        rules = Principals(ownership=("team-a",))
        curate(spark, root, number, [EVENT], number, headers, principals=rules, time=time)
    with open_graph_batch(created.read(lineage_events.TABLE)) as batch:
        write_graph(spark, batch, BatchWriter(spark, root, "graph", 0))
    tables = Tables(root)
    names = (contract.name for contract in DERIVED if contract.name not in BY_OFFSET)
    return {name: sorted(map(repr, tables.query(f"SELECT * FROM {name}").rows)) for name in names}


def test_the_order_of_copies_does_not_matter(spark: SparkSession, tmp_path: Path) -> None:
    found = tables_of(spark, str(tmp_path / "one"), COPIES)
    assert tables_of(spark, str(tmp_path / "other"), COPIES[::-1]) == found

    events = Tables(str(tmp_path / "one")).query("SELECT event_id, defects FROM lineage_events")
    assert sorted(str(defects or "") for _, defects in events.rows) == [
        "",
        "['event_time_in_future', 'untrusted_ownership']",
        "['event_time_in_future']",
        "['untrusted_ownership']",
    ]
    assert [name for name, defects in events.rows if defects is None] == [event_id(EVENT)]
    assert len({name for name, _ in events.rows}) == len(COPIES)
