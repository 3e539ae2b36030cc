"""The events of other OpenLineage integrations: no event, facet or run is lost or misread."""

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lineproof.schemas.envelope import event_id
from lineproof.schemas.openlineage import parse, parse_instant
from lineproof.serving.sql import Tables
from tests.events import sealed
from tests.foreign_events import DOCUMENTS, PAYLOADS, STATES, airflow, dbt, trino
from tests.foreign_events import spark as spark_events
from tests.foreign_events.located_facets import located_facets
from tests.streaming.curated import curated

IDS = {name: event_id(payload) for name, payload in PAYLOADS.items()}


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """All events in one batch, each as plain JSON and in a lineproof envelope."""
    root = str(tmp_path_factory.mktemp("integrations"))
    in_envelopes = [sealed(payload, number).encode() for number, payload in enumerate(PAYLOADS.values())]
    curated(spark, root, [[*PAYLOADS.values(), *in_envelopes]])
    return Tables(root)


def asked(tables: Tables, sql: str, *parameters: object) -> list[dict[str, Any]]:
    """The rows of a result as dictionaries."""
    answer = tables.query(sql, *parameters)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def test_every_record_is_usable(tables: Tables) -> None:
    assert asked(tables, "SELECT reason FROM dead_letters") == []
    assert asked(tables, "SELECT count(*) AS n FROM records WHERE reason IS NULL") == [{"n": 2 * len(PAYLOADS)}]


def test_events_are_kept_byte_for_byte(tables: Tables) -> None:
    kept = {
        row["event_id"]: row["event"].encode() for row in asked(tables, "SELECT event_id, event FROM lineage_events")
    }
    assert kept == {IDS[name]: payload for name, payload in PAYLOADS.items()}


def test_every_facet_is_read_back_by_sql(tables: Tables) -> None:
    sent = {
        (IDS[name], located.path): located.facet
        for name, document in DOCUMENTS.items()
        for located in located_facets(document)
    }
    rows = asked(
        tables,
        "SELECT event_id, path, event->path AS facet FROM lineage_events "
        "JOIN (SELECT unnest(?) AS event_id, unnest(?) AS path) USING (event_id)",
        *(list(column) for column in zip(*sent, strict=True)),
    )
    assert {(row["event_id"], row["path"]): json.loads(row["facet"]) for row in rows} == sent


def test_every_fact_of_an_event_is_extracted(tables: Tables) -> None:
    rows = {row["event_id"]: row for row in asked(tables, "SELECT * FROM lineage_events")}
    for name, document in DOCUMENTS.items():
        row, event = rows[IDS[name]], parse(PAYLOADS[name])
        for fact in ("kind", "event_type", "event_time", "run_id", "job_namespace", "job_name", "producer"):
            assert row[fact] == getattr(event, fact), (name, fact)
        assert (row["dataset_namespace"], row["dataset_name"]) == (event.dataset_namespace, event.dataset_name)
        assert row["schema_url"] == document["schemaURL"]
        for side in ("inputs", "outputs"):
            named = [(dataset["namespace"], dataset["name"]) for dataset in row[side] or []]
            sent = [(dataset["namespace"], dataset["name"]) for dataset in document.get(side, [])]
            assert named == sent, (name, side)
        counts = [
            output.get("outputFacets", {}).get("outputStatistics", {}).get("rowCount")
            for output in document.get("outputs", [])
        ]
        assert [output["row_count"] for output in row["outputs"] or []] == counts, name


def test_every_run_has_its_state(tables: Tables) -> None:
    assert {row["run_id"]: row["state"] for row in asked(tables, "SELECT run_id, state FROM runs")} == STATES


def test_runs_start_and_end_when_their_integrations_say(tables: Tables) -> None:
    rows = {row["run_id"]: row for row in asked(tables, "SELECT * FROM runs")}
    ended_twice = rows[spark_events.QUERY_RUN]
    assert ended_twice["started_at"] == parse_instant(spark_events.EVENTS["query starts"]["eventTime"])
    assert ended_twice["ended_at"] == parse_instant(spark_events.EVENTS["query completes"]["eventTime"])
    assert rows[trino.QUERY_RUN]["duration_ms"] == 2250
    assert rows[dbt.TEST_RUN]["started_at"] is None
    assert rows[airflow.QUALITY_RUN]["error"]["message"] == "Totals differ: 31 ≠ 30"
    assert rows[trino.FAILED_RUN]["error"]["message"].startswith("Access Denied")


def test_runs_have_their_parents(tables: Tables) -> None:
    parents = {
        row["run_id"]: row["parent_run_id"]
        for row in asked(tables, "SELECT run_id, parent.run_id AS parent_run_id FROM runs")
    }
    assert parents[spark_events.QUERY_RUN] == spark_events.APPLICATION_RUN
    assert parents[spark_events.APPLICATION_RUN] == airflow.TASK_RUN
    assert parents[airflow.TASK_RUN] == airflow.DAG_RUN
    assert parents[airflow.DAG_RUN] is None
    assert parents[dbt.MODEL_RUN] == dbt.PROJECT_RUN
