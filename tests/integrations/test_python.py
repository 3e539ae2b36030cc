"""Transports of `openlineage-python` itself, without anything of lineproof: by URL and by Kafka."""

import os
import sys
from pathlib import Path

import pytest

from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from tests.end_to_end.server import server
from tests.end_to_end.tools import RunJob
from tests.integrations.clients import URL, assert_all_used, blocks, filled_in, run_client, run_script

pytestmark = pytest.mark.integrations

[PROGRAM] = blocks("python", "A program", "python")


def assert_lineage(settings: Settings, run_job: RunJob) -> None:
    run_job(settings)
    tables = Tables(settings.tables_path)
    assert_all_used(tables, 2)
    assert tables.query("SELECT DISTINCT defects FROM lineage_events").rows == [(None,)]
    [run] = tables.query("SELECT job_namespace, job_name, state, outputs[1].name, outputs[1].row_count FROM runs").rows
    assert run == ("shop", "refunds", "COMPLETED", "shop.public.refunds", 3)
    database = "postgres://db.internal:5432"
    upstream = tables.query("SELECT depth, name FROM lineage_upstream(?, ?)", database, "shop.public.refunds")
    assert upstream.rows == [(1, "shop.public.orders")]


def test_by_url(settings: Settings, run_job: RunJob, tmp_path: Path) -> None:
    [variables] = blocks("python", "By URL", "sh")
    (tmp_path / "refunds.py").write_text(PROGRAM)
    with server(settings) as gateway:
        run_script(f"{filled_in(variables, {URL: gateway.url})}{sys.executable} refunds.py", tmp_path)
    assert_lineage(settings, run_job)


def test_by_url_in_the_background(settings: Settings, run_job: RunJob, tmp_path: Path) -> None:
    [configuration] = blocks("python", "By URL", "yaml")
    with server(settings) as gateway:
        (tmp_path / "openlineage.yml").write_text(filled_in(configuration, {URL: gateway.url}))
        run_client([sys.executable, "-c", PROGRAM], tmp_path, os.environ)
    assert_lineage(settings, run_job)


def test_by_kafka(settings: Settings, run_job: RunJob, tmp_path: Path) -> None:
    [configuration] = blocks("python", "By Kafka", "yaml")
    of_test = {"broker-1:9092": settings.kafka["bootstrap.servers"], "lineage.events": settings.topics.events}
    (tmp_path / "openlineage.yml").write_text(filled_in(configuration, of_test))
    run_client([sys.executable, "-c", PROGRAM], tmp_path, os.environ)
    assert_lineage(settings, run_job)
