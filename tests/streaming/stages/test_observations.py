"""Which events are parsed again for their facets, and what is read from them."""

import json
import uuid

from pyspark.sql import SparkSession

from lineproof.streaming.stages.facts import facts
from lineproof.streaming.stages.observations import observations
from tests.events import RUN_ID, document, output
from tests.histories import FACET
from tests.streaming.records import records


def event(minute: int, owner: str = "a", run_id: str = RUN_ID) -> bytes:
    """An event that differs from the others in its time and its counts, and if asked in a facet."""
    job = {"namespace": "tests", "name": "job", "facets": {"ownership": {**FACET, "owners": [{"name": owner}]}}}
    time, run = f"2026-01-31T10:{minute:02}:00Z", {"runId": run_id}
    return json.dumps(document(eventTime=time, run=run, job=job, outputs=[output("out", minute)])).encode()


def test_only_the_first_and_the_last_event_with_the_same_facets_are_parsed(spark: SparkSession) -> None:
    values = [*(event(minute) for minute in range(30)), event(12, owner="b")]
    events = facts(records(spark, values), {}).cache()
    rows = observations(events, events).collect()
    assert {row.event_time.minute for row in rows} == {0, 12, 29}
    assert sorted(row.role for row in rows) == ["INPUT"] * 3 + ["JOB"] * 3 + ["OUTPUT"] * 3


def test_of_events_of_the_same_time_the_one_with_the_greatest_id_is_parsed(spark: SparkSession) -> None:
    """The tables keep the greatest event id: in any split, it must be there."""
    values = [event(0, run_id=str(uuid.UUID(int=number))) for number in range(12)]
    events = facts(records(spark, values), {}).cache()
    rows = observations(events, events).collect()
    ids = {row.event_id: row.run_id for row in events.collect()}
    assert {row.event_id for row in rows} >= {min(ids), max(ids)}
    assert len({row.event_id for row in rows}) <= 2
