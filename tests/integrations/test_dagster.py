"""`dagster-openlineage`, in an environment of its own: the assets of the page, with nothing but the URL."""

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

BIN = ROOT / "build" / "dagster" / "bin"


def test_assets_by_url(settings: Settings, run_job: RunJob, tmp_path: Path, say: Callable[[str], None]) -> None:
    if not BIN.exists():
        pytest.fail(f"{BIN} is missing. Run `make test-integrations`, which installs Dagster.")
    [variables], [configuration] = blocks("dagster", "By URL", "sh"), blocks("dagster", "By URL", "yaml")
    [program], [command] = blocks("dagster", "Assets", "python"), blocks("dagster", "Assets", "sh")
    (tmp_path / "dagster.yaml").write_text(filled_in(configuration, {"/srv/dagster": str(tmp_path)}))
    (tmp_path / "shop.py").write_text(program)
    environment = {
        "DAGSTER_HOME": str(tmp_path),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "PATH": f"{BIN}:{os.environ['PATH']}",
    }
    say("Running assets of Dagster ...")
    with server(settings) as gateway:
        printed = run_script(f"{filled_in(variables, {URL: gateway.url})}{command}", tmp_path, **environment)
    events = len(values_in_topic(settings))
    say(f"Dagster sent {events} events. Running lineproof's job over them ...")
    run_job(settings)
    tables = Tables(settings.tables_path)

    def rows(sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        return tables.query(sql, *parameters).rows

    assert events == 4, printed  # START and COMPLETE of two assets
    assert_all_used(tables, events)
    assert rows("SELECT DISTINCT defects, job_namespace FROM lineage_events") == [(None, "shop")]
    assert rows("SELECT state, list_sort([j.name FOR j IN jobs]), list_sort([o.name FOR o IN outputs]) FROM runs") == [
        ("COMPLETED", ["orders", "revenue"], ["orders", "revenue"])
    ]
    assert rows("SELECT depth, name FROM lineage_upstream('shop', 'revenue')") == [(1, "orders")]
    columns = rows("SELECT source_name, source_field, target_name, target_field FROM column_edges")
    assert columns == [("orders", "amount", "revenue", "revenue")]
    [(name, fields)] = rows("SELECT name, fields FROM dataset_schemas")
    assert (name, [field["name"] for field in fields]) == ("revenue", ["country", "revenue"])
