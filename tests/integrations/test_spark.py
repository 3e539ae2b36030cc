"""OpenLineage's Spark listener with its own transports, by URL and by Kafka, in an ordinary Spark application."""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark
import pytest

from lineproof.schemas.envelope import Envelope, decode
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
    new_topic,
    run_client,
    values_in_topic,
    with_topic,
)

pytestmark = pytest.mark.integrations

SPARK_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
APPLICATION = "daily_revenue"


@dataclass(frozen=True)
class Application:
    """An application that ran: the topic of its events, and the folder of its tables."""

    topic: str
    home: str


@contextmanager
def addresses(way: str, bootstrap_servers: str, topic: str, home: Path) -> Iterator[dict[str, str]]:
    """The addresses of the test for those on the page. The gateway runs as long as they are used."""
    if way == "By Kafka":
        yield {"broker-1:9092": bootstrap_servers, "lineage.events": topic}
        return
    kafka = {"bootstrap.servers": bootstrap_servers}
    with server(Settings(home=home / "gateway", topics={"events": topic}, kafka=kafka)) as gateway:
        yield {URL: gateway.url}


@pytest.fixture(scope="session", params=["By URL", "By Kafka"])
def application(
    request: pytest.FixtureRequest,
    bootstrap_servers: str,
    tmp_path_factory: pytest.TempPathFactory,
    say: Callable[[str], None],
) -> Application:
    """Run the application once for all tests of this module."""
    home, topic = tmp_path_factory.mktemp("spark"), new_topic(bootstrap_servers)
    configuration = blocks("spark", request.param, "properties")[0]
    say("Running a Spark application with OpenLineage's listener (the first time, it downloads 61 MB to build/ivy) ...")
    with addresses(request.param, bootstrap_servers, topic, home) as of_test:
        (home / "spark-defaults.conf").write_text(filled_in(configuration, of_test))
        printed = run_client(
            [
                *(SPARK_SUBMIT, "--master", "local[2]", "--driver-memory", "1g", "--conf", "spark.ui.enabled=false"),
                *("--conf", f"spark.jars.ivy={ROOT / 'build' / 'ivy'}", "--conf", "spark.sql.shuffle.partitions=2"),
                *(Path(__file__).with_name("spark_application.py"), home / "tables"),
            ],
            home,
            {
                **os.environ,
                "SPARK_CONF_DIR": str(home),
                "PYSPARK_PYTHON": sys.executable,
                "SPARK_LOCAL_IP": "127.0.0.1",
            },
        )
    assert "ERROR" not in printed, printed
    return Application(topic, str(home / "tables"))


def facets_of_run(record: bytes) -> list[str]:
    """The keys of the facets of the run, also those that come twice."""
    opened = decode(record)
    payload = opened.payload if isinstance(opened, Envelope) else opened
    document = json.loads(payload, object_pairs_hook=lambda pairs: pairs)
    run = dict(dict(document)["run"])
    return [name for name, _ in run["facets"]]


def is_equal_key(record: bytes) -> bool:
    return max(Counter(facets_of_run(record)).values()) > 1


def test_tables(application: Application, settings: Settings, run_job: RunJob, say: Callable[[str], None]) -> None:
    settings = with_topic(settings, application.topic)
    records = values_in_topic(settings)
    say(f"The listener sent {len(records)} events. Running lineproof's job over them ...")
    run_job(settings)
    tables = Tables(settings.tables_path)

    def rows(sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        return tables.query(sql, *parameters).rows

    # Every record is an event. The one thing wrong is the same facet twice in some START events.
    assert_all_used(tables, len(records))
    faulty = sum(map(is_equal_key, records))
    assert faulty > 0, "The listener no longer sends equal keys: adapt this test and docs/defects.md."
    defects = rows("SELECT event_type, defects, count(*) FROM lineage_events WHERE defects IS NOT NULL GROUP BY ALL")
    assert defects == [("START", ["duplicate_json_key"], faulty)]
    engines = rows("SELECT DISTINCT event->>'$.run.facets.processing_engine.version' FROM lineage_events")
    assert engines == [(pyspark.__version__,)]

    # The application and its three writes completed, and say how much they wrote.
    [(root,)] = rows("SELECT run_id FROM runs WHERE job_name = ? AND state = 'COMPLETED'", APPLICATION)
    written = rows(
        "SELECT outputs[1].namespace, outputs[1].name, outputs[1].row_count, state, successful, parent.run_id "
        "FROM runs WHERE len(outputs) = 1 ORDER BY started_at"
    )
    assert written == [
        ("file", f"{application.home}/{name}", count, "COMPLETED", True, root)
        for name, count in (("orders", 3), ("customers", 2), ("revenue", 2))
    ]
    # The listener does not report the end of the jobs that find out the columns of a Parquet file.
    assert rows("SELECT DISTINCT job_name FROM open_runs") == [(f"{APPLICATION}.map_partitions_parallel_collection",)]

    # Table and column lineage.
    orders, customers, revenue = (f"{application.home}/{name}" for name in ("orders", "customers", "revenue"))
    upstream = rows("SELECT depth, name FROM lineage_upstream('file', ?) ORDER BY name", revenue)
    assert upstream == [(1, customers), (1, orders)]
    assert rows("SELECT depth, name FROM lineage_downstream('file', ?)", orders) == [(1, revenue)]
    columns = rows(
        "SELECT target_field, source_name, source_field, [t.subtype FOR t IN transformations] FROM column_edges "
        "WHERE target_name = ? AND target_field IS NOT NULL ORDER BY target_field",
        revenue,
    )
    assert columns == [
        ("country", customers, "country", ["IDENTITY"]),
        ("revenue", orders, "amount", ["AGGREGATION"]),
    ]
    deciding = rows("SELECT source_name, source_field FROM column_edges WHERE target_field IS NULL ORDER BY ALL")
    assert deciding == [(customers, "country"), (customers, "name"), (orders, "customer")]
    [(fields,)] = rows("SELECT fields FROM dataset_profiles WHERE name = ?", revenue)
    assert [(field["name"], field["type"]) for field in fields] == [("country", "string"), ("revenue", "double")]


def test_strict_tables(application: Application, settings: Settings, run_job: RunJob) -> None:
    settings = with_topic(settings, application.topic, tolerance="strict")
    records = values_in_topic(settings)
    run_job(settings)
    tables = Tables(settings.tables_path)
    letters = tables.query("SELECT reason, value FROM dead_letters ORDER BY value").rows
    assert letters == [("duplicate_json_key", record) for record in sorted(filter(is_equal_key, records))]
    assert tables.query("SELECT count(*), count(defects) FROM lineage_events").rows == [
        (len(records) - len(letters), 0)
    ]
