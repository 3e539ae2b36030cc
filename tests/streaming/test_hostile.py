"""Hostile values at every place that the job reads: it never fails, no record is lost, and the law holds.

What the job makes of each record is compared with a model that reads the bytes by the documented rules. There is no
cell that the model leaves open.

Every run draws a new seed. `LAW_SEED=NUMBER pytest tests/streaming/test_hostile.py` repeats a run.
"""

import time
import uuid
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import SparkSession

from lineproof.schemas.defects import Defect
from lineproof.schemas.reasons import Reason
from lineproof.schemas.tables import DERIVED
from lineproof.serving.sql import Tables
from tests.bad_input import columns, symlinks
from tests.events import payload
from tests.hostile import hostile_events
from tests.model.reading import Reading, read
from tests.model.runs import runs_of
from tests.streaming.curated import curated
from tests.streaming.records import TIME
from tests.streaming.test_law import assert_equal
from tests.streaming.test_law import seed as seed

EVENTS = 10_000
BY_OFFSET = {"records", "dead_letters"}
"""Tables with Kafka coordinates, which differ between two orders of arrival."""

EVENT_COLUMNS = (
    *("event_time", "kind", "event_type", "run_id", "job_namespace", "job_name", "dataset_namespace", "dataset_name"),
    *("inputs", "outputs", "producer", "schema_url", "error_message", "defects", "event"),
)
GIANTS_DEADLINE_S = 900
"""For a batch that takes less than a minute on two free cores."""


def test_hostile_values_neither_stop_the_job_nor_break_the_law(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    events = hostile_events(seed, EVENTS)
    other_order = chance.sample([*events, *chance.sample(events, EVENTS // 20)], EVENTS + EVENTS // 20)
    cut = chance.randrange(1, EVENTS)
    roots = [str(tmp_path / name) for name in ("one", "other")]
    curated(spark, roots[0], [events])
    curated(spark, roots[1], [other_order[:cut], other_order[cut:]])

    tables, others = map(Tables, roots)
    used = assert_model(tables, events)
    assert EVENTS / 2 < used < EVENTS

    for table in (contract.name for contract in DERIVED if contract.name not in BY_OFFSET):
        query = f"SELECT * FROM {table}"
        one, other = (sorted(map(repr, reader.query(query).rows)) for reader in (tables, others))
        assert one == other, f"{table} depends on the order"
    reasons = "SELECT reason, count(DISTINCT value) FROM dead_letters GROUP BY reason ORDER BY reason"
    assert tables.query(reasons).rows == others.query(reasons).rows


def test_giants_are_read_or_refused_and_good_events_are_used(spark: SparkSession, tmp_path: Path) -> None:
    good = [_of_run(1000 + number, eventType="COMPLETE") for number in range(200)]
    giants = _giants()
    begin = time.monotonic()
    curated(spark, str(tmp_path), [[*giants, *good]])
    assert time.monotonic() - begin < GIANTS_DEADLINE_S

    tables = Tables(str(tmp_path))
    assert_model(tables, [*giants, *good])
    joined = "records LEFT JOIN lineage_events USING (event_id)"
    found = tables.query(f'SELECT reason, defects FROM {joined} ORDER BY "offset"')
    stated = [reason or [*(defects or [])] for reason, defects in found.rows]
    assert stated == [*giants.values(), *([] for _ in good)]


def assert_model(tables: Tables, values: list[bytes]) -> int:
    """Compare all records, events and runs, and the names of jobs and datasets. Returns how many records are used."""
    readings = [read(value, TIME) for value in values]
    records = tables.query('SELECT reason, event_id, run_id FROM records ORDER BY "offset"').rows
    assert_equal(
        {at: {"reason": row[0], "event_id": row[1]} for at, row in enumerate(records)},
        {at: {"reason": found.reason, "event_id": found.event_id} for at, found in enumerate(readings)},
    )
    used = [found for found in readings if found.reason is None]
    assert [row[2] for row in records if row[0] is None] == [found.row["run_id"] for found in used]

    letters = tables.query('SELECT "offset", reason, value FROM dead_letters').rows
    unused = {at: (found.reason, values[at]) for at, found in enumerate(readings) if found.reason}
    assert {at: (reason, bytes(value)) for at, reason, value in letters} == unused
    reasons = tables.query("SELECT reason, count(*) FROM dead_letters GROUP BY reason").rows
    assert dict(reasons) == Counter(found.reason for found in readings if found.reason)

    assert_equal(_events(tables), {found.event_id: found.row for found in used})
    assert_equal(_runs(tables), runs_of(_in_order(used)))
    named = {(row["namespace"], row["name"]) for found in used for row in (*found.row["inputs"], *found.row["outputs"])}
    for kind, also in (("job", set[Any]()), ("dataset", named)):
        own = {(found.row[f"{kind}_namespace"], found.row[f"{kind}_name"]) for found in used}
        names = tables.query(f"SELECT namespace, name FROM {kind}s").rows
        assert sorted(names) == sorted(name for name in own | also if all(name))
    return len(used)


def _events(tables: Tables) -> dict[str, dict[str, Any]]:
    """Rows of `lineage_events` by id, as the model has them."""
    found = tables.query(f"SELECT event_id, {', '.join(EVENT_COLUMNS)} FROM lineage_events")
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    for row in rows:
        row["defects"] = sorted(row["defects"] or [])
        for role in ("inputs", "outputs"):
            datasets = row[role] or []
            row[role] = [{name: value for name, value in one.items() if name != "facets_hash"} for one in datasets]
    by_id = {row["event_id"]: row for row in rows}
    assert len(by_id) == len(rows)
    return by_id


def _runs(tables: Tables) -> dict[str, dict[str, Any]]:
    found = tables.query("SELECT * EXCLUDE (event_hashes, io_id) FROM runs")
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    return {row["run_id"]: row for row in rows}


def _in_order(used: list[Reading]) -> Any:
    """The distinct events, in the order of their versions."""
    events = {found.event_id: found.event for found in used if found.event}
    return sorted(events.values(), key=lambda event: event.version)


def _giants() -> dict[bytes, Any]:
    """Events with very much of something: the reason of each, or its defects."""

    def of_input(number: int, facets: Any) -> bytes:
        return _of_run(number, inputs=[{"namespace": "db", "name": f"t{number}", "facets": facets}])

    def nested(number: int, levels: int) -> bytes:
        return _of_run(number)[:-1] + b',"deep":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"

    datasets = [{"namespace": "many", "name": f"t{number}"} for number in range(100_000)]
    facets = ",".join(f'"x":{{"n":{number}}}' for number in range(10_000))
    equal_keys = f'{{"namespace":"db","name":"j","facets":{{{facets}}}}}'
    text = "x" * 5_000_000
    return {
        _of_run(1, inputs=datasets): [Defect.TOO_MANY_DATASETS.value],
        of_input(2, {f"f{number}": {} for number in range(10_000)}): [Defect.TOO_MANY_FACETS.value],
        of_input(3, {"symlinks": symlinks(5_000)}): [Defect.TOO_MANY_SYMLINKS.value],
        of_input(4, {"columnLineage": columns(20_000)}): [Defect.TOO_MANY_COLUMNS.value],
        nested(5, 990): [],
        nested(6, 1_000): [],
        nested(7, 1_001): Reason.JSON_TOO_DEEP.value,
        nested(8, 1_100): Reason.JSON_TOO_DEEP.value,
        nested(9, 100_000): Reason.JSON_TOO_DEEP.value,
        _of_run(10, run={"runId": _run_id(10), "facets": {"errorMessage": {"message": text}}}): [],
        _of_run(11, job="@").replace(b'"@"', equal_keys.encode()): [Defect.DUPLICATE_JSON_KEY.value],
        _of_run(12, run={"runId": _run_id(12), "facets": {f"f{number}": number for number in range(10_000)}}): [
            Defect.WRONG_TYPE.value
        ],
        _of_run(13, inputs=[*range(100_000), {"namespace": "db", "name": "t"}]): [Defect.WRONG_TYPE.value],
    }


def _run_id(number: int) -> str:
    return str(uuid.UUID(int=number))


def _of_run(number: int, **members: Any) -> bytes:
    return payload(**{"run": {"runId": _run_id(number)}, **members})
