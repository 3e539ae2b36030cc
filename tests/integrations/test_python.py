"""The Kafka transport of `openlineage-python`, without anything of lineproof."""

import os
import sys
from pathlib import Path

import pytest

from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from tests.end_to_end.tools import RunJob
from tests.integrations.clients import assert_all_used, blocks, filled_in, run_client

pytestmark = pytest.mark.integrations


def test_the_program_of_the_page(settings: Settings, run_job: RunJob, tmp_path: Path) -> None:
    [configuration], [program] = blocks("Python", "yaml"), blocks("Python", "python")
    of_test = {"broker-1:9092": settings.kafka["bootstrap.servers"], "lineage.events": settings.topics.events}
    (tmp_path / "openlineage.yml").write_text(filled_in(configuration, of_test))
    run_client([sys.executable, "-c", program], tmp_path, os.environ)
    run_job(settings)

    tables = Tables(settings.tables_path)
    assert_all_used(tables, 2)
    assert tables.query("SELECT DISTINCT defects FROM lineage_events").rows == [(None,)]
    [run] = tables.query("SELECT job_namespace, job_name, state, outputs[1].name, outputs[1].row_count FROM runs").rows
    assert run == ("shop", "refunds", "COMPLETED", "shop.public.refunds", 3)
    database = "postgres://db.internal:5432"
    upstream = tables.query("SELECT depth, name FROM lineage_upstream(?, ?)", database, "shop.public.refunds")
    assert upstream.rows == [(1, "shop.public.orders")]
