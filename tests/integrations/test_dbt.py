"""`dbt-ol` in an environment of its own: by URL, and by Kafka with lineproof's transport class."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from tests.end_to_end.server import server
from tests.end_to_end.tools import RunJob
from tests.integrations.clients import (
    ROOT,
    URL,
    assert_all_used,
    blocks,
    filled_in,
    run_script,
    values_in_topic,
)

pytestmark = pytest.mark.integrations

BIN = ROOT / "build" / "dbt" / "bin"
[WHILE_IT_RUNS] = blocks("dbt", "While dbt runs", "sh")
COMMAND = "dbt-run-shop"
DATABASE = "duckdb://shop.duckdb"
SEED, ORDERS, REVENUE = (f"shop.main.{name}" for name in ("raw_orders", "orders", "revenue"))
RESULTS = [
    (ORDERS, "not_null", "customer", False, "warn", "1"),
    (ORDERS, "not_null", "order_id", True, "error", "0"),
    (ORDERS, "unique", "order_id", True, "error", "0"),
    (REVENUE, "revenue_is_positive", None, True, "error", "0"),
]

WAYS = pytest.mark.parametrize("way", ["By URL", "By Kafka"])
RunDbt = Callable[..., Tables]


@contextmanager
def configured(way: str, settings: Settings, project: Path) -> Iterator[str]:
    """Configure the client in the project; returns the commands of the page."""
    [commands] = blocks("dbt", way, "sh")
    if way == "By URL":
        with server(settings) as gateway:
            yield filled_in(commands, {URL: gateway.url})
        return
    [configuration] = blocks("dbt", way, "yaml")
    of_test = {
        "broker-1:9092": settings.kafka["bootstrap.servers"],
        "lineage.events": settings.topics.events,
        "/var/spool/lineproof": str(project.parent / "spool"),
    }
    (project / "openlineage.yml").write_text(filled_in(configuration, of_test))
    yield commands


@pytest.fixture
def run_dbt(settings: Settings, run_job: RunJob, tmp_path: Path, say: Callable[[str], None]) -> RunDbt:
    """Runs the commands of the page in the project, then lineproof's job, and returns the tables."""

    def run(way: str, instead: str | None = None) -> Tables:
        if not BIN.exists():
            pytest.fail(f"{BIN} is missing. Run `make test-integrations`, which installs dbt.")
        project = tmp_path / "project"
        shutil.copytree(Path(__file__).with_name("dbt_project"), project)
        with configured(way, settings, project) as commands:
            if instead:
                commands = filled_in(commands, {"dbt-ol build\n": instead})
            say(f"Running {commands.splitlines()[-1]} ...")
            printed = run_script(commands, project, PATH=f"{BIN}:{os.environ['PATH']}")
        events = len(values_in_topic(settings))
        assert f"Emitted {events} OpenLineage events" in printed
        say(f"dbt-ol sent {events} events. Running lineproof's job over them ...")
        run_job(settings)
        tables = Tables(settings.tables_path)
        assert_all_used(tables, events)
        return tables

    return run


def rows(tables: Tables, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    return tables.query(sql, *parameters).rows


def assert_same_for_both(tables: Tables) -> None:
    """What does not depend on when dbt-ol sends the events."""
    assert rows(tables, "SELECT DISTINCT defects FROM lineage_events") == [(None,)]
    assert rows(tables, "SELECT * FROM emitter_gaps") == []
    assert rows(tables, "SELECT DISTINCT state, successful FROM runs") == [("COMPLETED", True)]

    upstream = rows(
        tables, "SELECT depth, namespace, name FROM lineage_upstream(?, ?) ORDER BY depth", DATABASE, REVENUE
    )
    assert upstream == [(1, DATABASE, ORDERS), (2, DATABASE, SEED)]
    [(fields,)] = rows(tables, "SELECT fields FROM dataset_profiles WHERE name = ?", ORDERS)
    assert [(field["name"], field["type"]) for field in fields] == [("order_id", "integer"), ("customer", "varchar")]

    results = rows(
        tables,
        "SELECT name, expectation, r.column, success, severity, observed FROM latest_results AS r "
        "WHERE namespace = ? ORDER BY ALL",
        DATABASE,
    )
    assert results == RESULTS
    rates = rows(
        tables, "SELECT name, test_pass_rate FROM dataset_profiles WHERE test_pass_rate IS NOT NULL ORDER BY 1"
    )
    assert rates == [(ORDERS, pytest.approx(2 / 3)), (REVENUE, 1)]
    failed = rows(tables, "SELECT subject, detail FROM violations WHERE kind = 'quality'")
    assert failed == [(f"{DATABASE}/{ORDERS}", "not_null of customer: 0")]


@WAYS
def test_events_at_the_end(run_dbt: RunDbt, way: str) -> None:
    tables = run_dbt(way)
    assert_same_for_both(tables)
    runs = rows(
        tables, "SELECT job_name, parent.job_name, [o.name FOR o IN outputs] FROM runs ORDER BY job_name COLLATE NOCASE"
    )
    assert runs == [
        (COMMAND, None, []),
        ("shop.main.shop.orders.build.run", COMMAND, [ORDERS]),
        ("shop.main.shop.orders.build.test", COMMAND, []),
        ("shop.main.shop.revenue.build.run", COMMAND, [REVENUE]),
        ("shop.main.shop.revenue.build.test", COMMAND, []),
        ("test.shop.revenue_is_positive", COMMAND, []),
    ]
    columns = rows(
        tables, "SELECT source_name, source_field, target_name, target_field FROM column_edges ORDER BY 3, 4"
    )
    assert columns == [
        *((SEED, name, ORDERS, name) for name in ("amount", "customer", "order_id")),
        *((ORDERS, source, REVENUE, target) for source, target in (("customer", "customer"), ("amount", "revenue"))),
    ]
    # The seed is in column lineage only. A result is stated at START and at COMPLETE. Nothing states row counts.
    assert rows(tables, "SELECT * FROM job_edges WHERE dataset_name = ?", SEED) == []
    stated = rows(tables, "SELECT count(*), count(DISTINCT event_id) FROM quality_results WHERE name = ?", ORDERS)
    assert stated == [(6, 2)]
    assert rows(tables, "SELECT name, row_count FROM dataset_profiles ORDER BY name") == [
        (ORDERS, None),
        (REVENUE, None),
    ]


@WAYS
def test_events_while_dbt_runs(run_dbt: RunDbt, way: str) -> None:
    tables = run_dbt(way, WHILE_IT_RUNS)
    assert_same_for_both(tables)
    runs = rows(
        tables,
        "SELECT regexp_replace(job_name, '[.][0-9a-f]{10}$', ''), parent.job_name, [i.name FOR i IN inputs], "
        "[o.name FOR o IN outputs] FROM runs WHERE job_name NOT LIKE '%.sql.%' ORDER BY job_name",
    )
    audit = "shop.main_dbt_test__audit"
    assert runs == [
        (COMMAND, None, [], []),
        ("model.shop.orders", COMMAND, [SEED], [ORDERS]),
        ("model.shop.revenue", COMMAND, [ORDERS], [REVENUE]),
        ("seed.shop.raw_orders", COMMAND, [], [SEED]),
        *(
            (f"test.shop.{name}", COMMAND, [tested], [f"{audit}.{name}"])
            for name, tested in (
                ("not_null_orders_customer", ORDERS),
                ("not_null_orders_order_id", ORDERS),
                ("revenue_is_positive", REVENUE),
                ("unique_orders_order_id", ORDERS),
            )
        ),
    ]
    # Every SQL statement is a run of its node. There is no column lineage. A result is stated once.
    parents = rows(
        tables,
        "SELECT DISTINCT job_name = parent.job_name || regexp_extract(job_name, '[.]sql[.][0-9]+$') "
        "FROM runs WHERE job_name LIKE '%.sql.%'",
    )
    assert parents == [(True,)]
    assert rows(tables, "SELECT * FROM column_edges") == []
    assert rows(tables, "SELECT count(*) FROM quality_results WHERE name = ?", ORDERS) == [(3,)]
