"""Which events are opened again for their facets."""

import json

from pyspark.sql import SparkSession

from lineproof.streaming.stages.facts import facts
from lineproof.streaming.stages.observations import sightings
from tests.events import document, output
from tests.histories import FACET
from tests.streaming.records import records


def event(minute: int, owner: str = "a") -> bytes:
    """An event that differs from the others in its time and its counts; and in a facet, if it must."""
    job = {"namespace": "tests", "name": "job", "facets": {"ownership": {**FACET, "owners": [{"name": owner}]}}}
    made = document(eventTime=f"2026-01-31T10:{minute:02}:00Z", job=job, outputs=[output("out", minute)])
    return json.dumps(made).encode()


def test_only_the_first_and_the_last_event_with_the_same_facets_are(spark: SparkSession) -> None:
    values = [*(event(minute) for minute in range(30)), event(12, owner="b")]
    events = facts(records(spark, values), {})
    rows = sightings(events, events).collect()
    assert {row.event_time.minute for row in rows} == {0, 12, 29}
    assert sorted(row.role for row in rows) == ["INPUT"] * 3 + ["JOB"] * 3 + ["OUTPUT"] * 3
