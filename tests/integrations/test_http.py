"""curl, as an example of any HTTP client."""

from pathlib import Path

import pytest

from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from tests.end_to_end.server import server
from tests.end_to_end.tools import RunJob
from tests.integrations.clients import URL, blocks, filled_in, run_script

pytestmark = pytest.mark.integrations


def test_by_url(settings: Settings, run_job: RunJob, tmp_path: Path) -> None:
    one, several = blocks("http", "By URL", "sh")
    with server(settings) as gateway:
        for command in (one, several, one):
            assert run_script(filled_in(command, {URL: gateway.url}), tmp_path) == ""
        assert [request["status"] for request in gateway.requests()] == [201, 204, 201]
    run_job(settings)
    tables = Tables(settings.tables_path)
    assert tables.query("SELECT count(*), count(DISTINCT event_id), count(reason) FROM records").rows == [(4, 3, 0)]
    assert tables.query("SELECT DISTINCT defects FROM lineage_events").rows == [(None,)]
    [run] = tables.query("SELECT job_namespace, job_name, state, event_count, duration_ms FROM runs").rows
    assert run == ("shop", "refunds", "COMPLETED", 3, 120_000)
    database = "postgres://db.internal:5432"
    upstream = tables.query("SELECT depth, name FROM lineage_upstream(?, ?)", database, "shop.public.refunds")
    assert upstream.rows == [(1, "shop.public.orders")]
