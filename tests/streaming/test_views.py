"""Views say the same by Spark and by DuckDB, and the same as plain Python (R44, R45)."""

import uuid
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import SparkSession

from lineproof.schemas.envelope import Envelope
from lineproof.schemas.openlineage import parse
from lineproof.sql import Tables
from lineproof.streaming.store import Store
from lineproof.streaming.views import VIEWS, views_in
from tests import model
from tests.events import payload
from tests.histories import arrival
from tests.streaming.curated import curated, view

EMITTERS = [str(uuid.UUID(int=number)) for number in (1, 2, 3)]


def numbered(emitter_id: str, sequence: int) -> bytes:
    event = parse(payload(run={"runId": str(uuid.uuid4())}))
    return Envelope.seal(event, emitter_id, sequence).encode()


def asked(spark: SparkSession, store: Store, root: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a view, once both engines are seen to agree."""
    answer = Tables(str(root)).query(f"SELECT * FROM {name}")
    by_duckdb = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    by_spark = [row.asDict(recursive=True) for row in view(spark, store, name).collect()]
    times = {key for row in by_spark for key, value in row.items() if hasattr(value, "astimezone")}

    def plain(rows: list[dict[str, Any]]) -> list[str]:
        return sorted(repr({key: value for key, value in row.items() if key not in times}) for row in rows)

    assert plain(by_duckdb) == plain(by_spark)
    return by_duckdb


def test_every_view_by_both_engines(spark: SparkSession, tmp_path: Path) -> None:
    arrived = arrival(seed=7, runs=40)
    # 0-2 and 5-6 of the first emitter come, all of the second, 3 alone of the third.
    sequences = [*((EMITTERS[0], n) for n in (0, 1, 2, 5, 6)), *((EMITTERS[1], n) for n in range(4)), (EMITTERS[2], 3)]
    events = [numbered(*one) for one in [*sequences, *sequences[:3]]]
    Random(7).shuffle(events)
    store = curated(spark, str(tmp_path), [[*arrived.arrived, *events]])

    ours = [row for row in asked(spark, store, tmp_path, "emitter_gaps") if row["emitter_id"] in EMITTERS]
    holes = {(row["emitter_id"], row["first_missing"], row["last_missing"], row["missing"]) for row in ours}
    assert {hole for hole in holes if hole[0] != EMITTERS[0] or hole[1]} == {
        (EMITTERS[0], 3, 4, 2),
        (EMITTERS[2], 0, 2, 3),
    }

    runs = model.runs(arrived.sent)
    ledgers = {row["run_id"]: row for row in asked(spark, store, tmp_path, "ledger_checks")}
    assert ledgers.keys() == {run_id for run_id, run in runs.items() if run["ledger"]}
    for run_id, row in ledgers.items():
        run = runs[run_id]
        assert (row["verdict"], row["difference"]) == (run["ledger_verdict"], run["ledger_difference"])
        assert row["is_violation"] == (run["state"] == "COMPLETED" and not run["successful"])
        assert row["recomputed_balanced"] == (None if row["difference"] is None else row["difference"] == Decimal(0))

    violations = asked(spark, store, tmp_path, "violations")
    of_ledgers = {row["run_id"] for row in violations if row["kind"] == "ledger"}
    assert of_ledgers == {run_id for run_id, row in ledgers.items() if row["is_violation"]}
    assert sum(row["kind"] == "emitter" for row in violations) == len(ours)


def test_there_is_a_file_for_every_view() -> None:
    folder = Path(__file__).parents[2] / "streaming" / "views_sql"
    assert {file.stem for file in folder.iterdir()} == set(VIEWS)


def test_a_query_makes_only_the_views_it_names() -> None:
    assert views_in("SELECT * FROM runs") == []
    assert views_in("select * from Violations") == list(VIEWS)
