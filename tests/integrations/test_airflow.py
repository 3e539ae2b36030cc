"""Airflow's OpenLineage provider, in an environment of its own: the DAG of the page, with nothing but the URL."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from tests.end_to_end.server import server
from tests.end_to_end.tools import RunJob
from tests.integrations.clients import ROOT, URL, assert_all_used, blocks, filled_in, run_script, values_in_topic

pytestmark = pytest.mark.integrations

BIN = ROOT / "build" / "airflow" / "bin"
DAG = "shop_daily"
RAW, ORDERS, REVENUE = (f"/srv/shop/{name}.csv" for name in ("raw_orders", "orders", "revenue"))
TABLES = ("shop.public.customers", "shop.public.orders")


def test_a_dag_by_url(settings: Settings, run_job: RunJob, tmp_path: Path, say: Callable[[str], None]) -> None:
    if not BIN.exists():
        pytest.fail(f"{BIN} is missing. Run `make test-integrations`, which installs Airflow.")
    [variables], [dag], [command] = (
        blocks("airflow", section, language)
        for section, language in (("By URL", "sh"), ("A DAG", "python"), ("A DAG", "sh"))
    )
    environment = {
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "PATH": f"{BIN}:{os.environ['PATH']}",
    }
    (tmp_path / "dags").mkdir()
    (tmp_path / "dags" / "shop_daily.py").write_text(dag)
    say("Creating Airflow's database ...")
    run_script("airflow db migrate", tmp_path, **environment)
    say("Running the DAG ...")
    with server(settings) as gateway:
        printed = run_script(f"{filled_in(variables, {URL: gateway.url})}{command}", tmp_path, **environment)
    events = len(values_in_topic(settings))
    say(f"Airflow sent {events} events. Running lineproof's job over them ...")
    run_job(settings)
    tables = Tables(settings.tables_path)

    def rows(sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        return tables.query(sql, *parameters).rows

    # START and COMPLETE of two tasks and a query, COMPLETE of the DAG. Only the scheduler reports the start of a DAG.
    assert events == 7, printed
    assert_all_used(tables, events)
    assert rows("SELECT DISTINCT defects, job_namespace FROM lineage_events") == [(None, "shop")]

    runs = rows(
        "SELECT job_name, state, parent.job_name, root.job_name, [i.name FOR i IN inputs], [o.name FOR o IN outputs] "
        "FROM runs ORDER BY job_name"
    )
    loaded, summed = f"{DAG}.load_orders", f"{DAG}.sum_revenue"
    assert runs == [
        (DAG, "COMPLETED", None, None, [], []),
        (loaded, "COMPLETED", DAG, DAG, [RAW], [ORDERS]),
        (summed, "COMPLETED", DAG, DAG, [ORDERS], [REVENUE]),
        (f"{summed}.manual_query.1", "COMPLETED", summed, DAG, [*TABLES], ["shop.public.revenue"]),
    ]
    upstream = "SELECT depth, name FROM lineage_upstream(?, ?) ORDER BY depth, name"
    assert rows(upstream, "file", REVENUE) == [(1, ORDERS), (2, RAW)]
    assert rows(upstream, "postgres://db.internal:5432", "shop.public.revenue") == [(1, name) for name in TABLES]
