"""Each view gives the same rows in Spark and in DuckDB, and the rows that are expected."""

import shutil
import uuid
from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.schemas.envelope import Envelope
from lineproof.schemas.headers import REDRIVEN_FROM
from lineproof.schemas.openlineage import parse
from lineproof.schemas.views import FUNCTIONS, VIEWS, named_in
from lineproof.serving.catalog import catalog_statements
from lineproof.serving.sql import Tables
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.recovery.topic import LostRange
from lineproof.streaming.tables import accepted_losses, archive
from lineproof.streaming.tables.accepted_losses import AcceptedLosses
from tests.events import payload
from tests.histories import FACET, arrival
from tests.model.runs import runs as model_runs
from tests.streaming.curated import curated, in_utc, run_sql
from tests.streaming.records import records
from tests.streaming.story import CLEAN, FAILED, LATE, LOAD, REPORT, STREAM, WORLD, dataset, event, story

EMITTERS = [str(uuid.UUID(int=number)) for number in (1, 2, 3)]
ARRIVED = arrival(seed=7, runs=40)
DEPENDS_ON_NOW = {"open_ms", "age_ms"}
EMPTY = ("archive_gaps", "learned_limits")
"""Views without rows here. They have tests of their own."""

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("views"))


@pytest.fixture(scope="module")
def store(spark: SparkSession, root: str) -> TableReader:
    """Histories, the story, and emitters of which 0-2 and 5-6, all, and 3 alone came; all as if they were re-driven."""
    sequences = [*((EMITTERS[0], n) for n in (0, 1, 2, 5, 6)), *((EMITTERS[1], n) for n in range(4)), (EMITTERS[2], 3)]
    events = [numbered(*sequence) for sequence in [*sequences, *sequences[:3]]]
    values = [*ARRIVED.arrived, *events, *story(), story()[0], *assertions()]
    Random(7).shuffle(values)
    return curated(spark, root, [values], headers=[("other", None), (REDRIVEN_FROM, b"events/0/0")])


@pytest.fixture(scope="module")
def ask(store: TableReader, root: str) -> Callable[[str], Rows]:
    def by_duckdb(query: str) -> Rows:
        answer = Tables(root).query(query)
        return [dict(zip(answer.columns, map(in_utc, row), strict=True)) for row in answer.rows]

    return by_duckdb


def numbered(emitter_id: str, sequence: int) -> bytes:
    event = parse(payload(run={"runId": str(uuid.uuid4())}))
    return Envelope.seal(event, emitter_id, sequence).encode()


def assertions() -> list[bytes]:
    """`report` by a suite, three times, and by a tool without suites; `clean`, which has a score of its producer."""

    def results(run: int, minute: int, of: dict[str, Any], *tests: tuple[str, str | None, bool | None]) -> bytes:
        stated = [
            {"assertion": name, "success": success, "params": {"suite": suite} if suite else {}}
            for name, suite, success in tests
        ]
        facets = {"dataQualityAssertions": {**FACET, "assertions": stated}}
        run_id = f"00000000-0000-0000-0000-0000000001{run:02}"
        return event(run_id, "COMPLETE", minute, "quality.all", inputs=[{**of, "inputFacets": facets}])

    report = dataset(WORLD, "report")
    score = {"lineproof_qualityMetrics": {**FACET, "score": 0.9}}
    return [
        results(1, 20, report, ("removed", "all", False), ("count", "all", False), ("sql", "all", False)),
        results(2, 21, report, ("count", "all", True), ("sql", "all", True), ("sql", "all", False)),
        results(3, 22, report, ("unique", None, False)),
        results(4, 23, report, ("unique", None, True), ("not_null", None, True)),
        results(5, 24, report, ("unique", None, None)),
        results(6, 25, dataset("s3://lake", "clean", facets=score), ("count", "all", False)),
    ]


QUERIES = [
    *(f"SELECT * FROM {view}" for view in VIEWS),
    *(f"SELECT * FROM {function}('world', 'orders')" for function in FUNCTIONS),
]


def test_both_engines_give_the_same_rows(spark: SparkSession, store: TableReader, ask: Callable[[str], Rows]) -> None:
    for query, answer in zip(QUERIES, run_sql(spark, store, *QUERIES), strict=True):
        by_spark = [in_utc(row.asDict(recursive=True)) for row in answer.collect()]
        answers = [
            sorted(repr({key: value for key, value in row.items() if key not in DEPENDS_ON_NOW}) for row in rows)
            for rows in (ask(query), by_spark)
        ]
        assert answers[0] == answers[1], query
        assert answers[0] or query.endswith(EMPTY), f"{query} shows nothing"


def test_a_catalog_has_all_views_and_functions(
    spark: SparkSession, store: TableReader, root: str, ask: Callable[[str], Rows]
) -> None:
    session = spark.newSession()  # without the views that the test above made for the shared one
    try:
        for _ in range(2):  # also after an upgrade
            for statement in catalog_statements(root, "registered"):
                session.sql(statement)
        for query in ("SELECT * FROM violations", "SELECT * FROM lineage_upstream('world', 'report')"):
            assert session.sql(query).count() == len(ask(query))
        session.catalog.setCurrentDatabase("default")
        assert session.table("registered.dataset_profiles").count() == len(ask("SELECT * FROM dataset_profiles"))
    finally:
        session.sql("DROP DATABASE IF EXISTS registered CASCADE")


def test_emitter_gaps(ask: Callable[[str], Rows]) -> None:
    ours = [row for row in ask("SELECT * FROM emitter_gaps") if row["emitter_id"] in EMITTERS]
    holes = {(row["emitter_id"], row["first_missing"], row["last_missing"], row["missing"]) for row in ours}
    assert {hole for hole in holes if hole[0] != EMITTERS[0] or hole[1]} == {
        (EMITTERS[0], 3, 4, 2),
        (EMITTERS[2], 0, 2, 3),
    }
    violations = ask("SELECT * FROM violations WHERE kind = 'emitter'")
    assert len(violations) == len(ask("SELECT * FROM emitter_gaps"))


def test_ledger_checks(ask: Callable[[str], Rows]) -> None:
    runs = model_runs(ARRIVED.sent)
    ledgers = {row["run_id"]: row for row in ask("SELECT * FROM ledger_checks") if row["run_id"] in runs}
    assert ledgers.keys() == {run_id for run_id, run in runs.items() if run["ledger"]}
    for run_id, row in ledgers.items():
        run = runs[run_id]
        assert (row["verdict"], row["difference"]) == (run["ledger_verdict"], run["ledger_difference"])
        assert row["is_violation"] == (run["state"] == "COMPLETED" and not run["successful"])
        assert row["recomputed_balanced"] == (None if row["difference"] is None else row["difference"] == Decimal(0))
    of_ledgers = {row["run_id"] for row in ask("SELECT * FROM violations WHERE kind = 'ledger'")}
    assert of_ledgers == {run_id for run_id, row in ledgers.items() if row["is_violation"]}


def test_failed_tests_are_violations(ask: Callable[[str], Rows]) -> None:
    rows = ask("SELECT * FROM violations WHERE kind = 'quality' AND subject LIKE 'world/%'")
    assert {row["verdict"] for row in rows} == {"failed test"}
    assert {(row["subject"], row["detail"]) for row in rows} == {("world/orders", "unique"), ("world/report", "sql")}


def test_copies_are_counted_and_the_timeline_is_in_order(ask: Callable[[str], Rows]) -> None:
    rows = ask(f"SELECT * FROM run_timeline WHERE run_id = '{LOAD}' ORDER BY step")
    assert [(row["event_type"], row["since_start_ms"], row["copies"]) for row in rows] == [
        ("START", 0, 2),
        ("COMPLETE", 60_000, 1),
    ]
    assert {row["duration_ms"] for row in rows} == {60_000}


def test_open_runs_are_overdue_after_their_own_limit(ask: Callable[[str], Rows]) -> None:
    rows = {row["run_id"]: row for row in ask("SELECT * FROM open_runs WHERE job_namespace = 'world'")}
    assert rows.keys() == {LATE, STREAM}
    assert (rows[LATE]["is_overdue"], rows[LATE]["limit_ms"]) == (True, 120_000)
    assert (rows[STREAM]["is_overdue"], rows[STREAM]["limit_ms"]) == (False, None)


def test_only_successful_runs_change_a_profile(ask: Callable[[str], Rows]) -> None:
    rows = {row["name"]: row for row in ask("SELECT * FROM dataset_profiles WHERE namespace IN ('world', 's3://lake')")}
    assert rows.keys() == {"orders", "clean", "report"}
    report, orders = rows["report"], rows["orders"]
    assert (report["row_count"], report["size"], report["run_id"]) == (2, 200, REPORT)
    assert [field["name"] for field in report["fields"]] == ["total"]
    assert report["last_loaded_at"] == datetime(2026, 1, 31, 10, 5, tzinfo=timezone.utc)
    assert (orders["gdpr_category"], orders["residency"], orders["test_pass_rate"]) == ("none", "eu", 0.5)
    assert FAILED not in {row["run_id"] for row in rows.values()}


def test_a_score_is_stated_by_the_producer_or_the_share_of_passed_tests(ask: Callable[[str], Rows]) -> None:
    """Tests that were removed from a suite, have a later result, or were skipped, do not count."""
    rows = {row["name"]: row for row in ask("SELECT * FROM dataset_profiles WHERE namespace IN ('world', 's3://lake')")}
    scores = {name: (row["quality_score"], row["test_pass_rate"]) for name, row in rows.items()}
    assert scores == {"orders": (0.5, 0.5), "report": (0.8, 0.8), "clean": (0.9, 0.0)}


def test_rows_are_reconciled_along_edges(ask: Callable[[str], Rows]) -> None:
    rows = ask("SELECT * FROM reconciliation WHERE reader_job_namespace = 'world' AND reader_job_name <> 'quality.all'")
    [row] = [row for row in rows if row["dataset_name"] == "orders"]
    assert (row["writer_run_id"], row["reader_run_id"]) == (LOAD, CLEAN)
    assert (row["rows_written"], row["rows_read"], row["difference"], row["verdict"]) == (10, 10, 0, "equal")
    [row] = [row for row in rows if row["dataset_name"] == "clean"]
    assert (row["writer_run_id"], row["reader_run_id"]) == (CLEAN, REPORT)
    assert (row["rows_written"], row["rows_read"], row["difference"], row["verdict"]) == (8, 7, -1, "fewer read")


def test_a_dataset_with_several_names_is_one_node(ask: Callable[[str], Rows]) -> None:
    edges = ask("SELECT * FROM dataset_edges WHERE job_namespace = 'world'")
    assert {(row["source_name"], row["target_name"], row["job_name"]) for row in edges} == {
        ("orders", "clean", "clean"),
        ("clean", "report", "report"),
        ("clean", "orders", "report"),
    }
    assert {row["source_namespace"] for row in edges if row["source_name"] == "clean"} == {"world"}
    inputs = ask("SELECT * FROM job_edges WHERE job_name = 'report' AND direction = 'INPUT'")
    assert [(row["dataset_namespace"], row["last_run"]["run_id"]) for row in inputs] == [("world", REPORT)]


def test_column_edges_have_their_source_and_transformations(ask: Callable[[str], Rows]) -> None:
    [row] = ask("SELECT * FROM column_edges WHERE job_namespace = 'world'")
    assert (row["source_namespace"], row["source_name"], row["source_field"]) == ("world", "clean", "amount")
    assert (row["target_name"], row["target_field"]) == ("report", "total")
    assert [transformation["subtype"] for transformation in row["transformations"]] == ["AGGREGATION"]


@pytest.mark.parametrize("by", ["world", "s3://lake"])
def test_lineage_follows_a_cycle_once(ask: Callable[[str], Rows], by: str) -> None:
    """`clean` is found under either of its names, and not upstream of itself."""
    upstream = ask(f"SELECT depth, name FROM lineage_upstream('{by}', 'clean') ORDER BY depth")
    assert [(row["depth"], row["name"]) for row in upstream] == [(1, "orders")]
    downstream = ask(f"SELECT depth, name FROM lineage_downstream('{by}', 'clean') ORDER BY depth, name")
    assert [(row["depth"], row["name"]) for row in downstream] == [(1, "orders"), (1, "report")]


def test_triangulation_puts_intent_logic_and_proof_side_by_side(ask: Callable[[str], Rows]) -> None:
    [row] = ask(f"SELECT * FROM triangulation WHERE run_id = '{REPORT}'")
    assert (row["intent_documentation"], row["logic_sql"]) == ("Adds up the orders", "SUM")
    assert (row["proof_ledger"], row["proof_rows_read"], row["proof_rows_written"]) == ("balanced", 7, 2)
    assert {output["name"] for output in row["proof_outputs"]} == {"orders", "report"}


def test_lost_offsets_are_told_from_others_and_are_violations(spark: SparkSession, tmp_path: Path) -> None:
    store = curated(spark, str(tmp_path), [])
    offsets = F.explode(F.array(*(F.lit(offset).cast("bigint") for offset in (3, 4, 5, 9))))
    first = archive.archive(records(spark, [None])).withColumn("offset", offsets)
    recreated = first.withColumns({"topic": F.lit("events#2"), "offset": F.col("offset") - 3})
    BatchWriter(spark, str(tmp_path), "ingest", 0).append(archive.TABLE, first.union(recreated))
    losses = AcceptedLosses(spark, store)
    losses.record([LostRange("events", 0, 6, 8), LostRange("events", 0, 15, None)], 3)
    losses.record([LostRange("events", 0, 10, 15)], 5)
    losses.record([LostRange("events#2", 0, 7, 9)], 8)
    losses.forget_after(7)
    losses.write_table()
    # A table that was removed is written again from the archive.
    shutil.rmtree(store.path(accepted_losses.TABLE))
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]
    AcceptedLosses(spark, store).write_table()
    version = DeltaTable(store.path(accepted_losses.TABLE)).version()
    AcceptedLosses(spark, store).write_table()
    assert DeltaTable(store.path(accepted_losses.TABLE)).version() == version

    query = "SELECT * FROM archive_gaps"
    expected = [
        ("events", 0, 0, 2, 3, "before the first read"),
        ("events", 0, 6, 7, 2, "lost"),
        ("events", 0, 8, 8, 1, "not delivered"),
        ("events", 0, 10, 14, 5, "lost"),
        ("events#2", 0, 3, 5, 3, "not delivered"),
    ]
    assert sorted(Tables(str(tmp_path)).query(query).rows) == expected
    [by_spark] = run_sql(spark, store, query)
    assert sorted(map(tuple, by_spark.collect())) == expected
    assert sorted(Tables(str(tmp_path)).query("SELECT kind, verdict, subject, detail FROM violations").rows) == [
        ("archive", "missing records", "events-0", "2 from offset 6"),
        ("archive", "missing records", "events-0", "5 from offset 10"),
    ]
    kept = "SELECT first_offset, last_offset, batch FROM accepted_losses ORDER BY 1"
    assert Tables(str(tmp_path)).query(kept).rows == [(6, 7, 3), (10, 14, 5), (15, None, 3)]


def test_there_is_a_file_for_every_view() -> None:
    folder = Path(__file__).parents[2] / "schemas" / "views_sql"
    assert {file.stem for file in folder.iterdir()} == set(VIEWS)


def test_a_query_makes_only_the_views_it_names() -> None:
    assert named_in("SELECT * FROM runs") == set()
    assert named_in("select * from Lineage_Upstream('a', 'b')") == {
        "lineage_upstream",
        "lineage_steps",
        "job_io_datasets",
    }
