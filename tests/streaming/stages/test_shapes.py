"""Events in shapes that other systems write: they land with their meaning, and without a dead letter."""

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lineproof.serving.sql import Tables
from tests.streaming.curated import curated

RUN, OTHER_RUN, LLM_RUN = "run_20240115_001", "1705312800000-k3j9x2m1p", "run_20240115_002"


def event(kind: str, minute: int, run_id: str = RUN, **members: Any) -> bytes:
    made = {
        "eventType": kind,
        "eventTime": f"2024-01-15T10:{minute:02}:00Z",
        "producer": "impact-platform",
        "schemaURL": "https://openlineage.io/spec/1-0-5/OpenLineage.json",
        "run": {"runId": run_id, "facets": members.pop("run_facets", {})},
        "job": {"namespace": "teei", "name": "q2q", "facets": members.pop("job_facets", {})},
        **members,
    }
    return json.dumps(made).encode()


TESTS = {"dataQualityAssertions": {"assertions": [{"assertion": "unique", "column": "id", "success": True}]}}
FEEDBACK = {"namespace": "teei.postgres.public", "name": "buddy_feedback"}
EVENTS = [
    event("START", 0, inputs=[FEEDBACK], job_facets={"documentation": "Turns feedback into evidence"}),
    event(
        "COMPLETE",
        5,
        inputs=[{**FEEDBACK, "facets": {"stats": {"rowCount": 12, "bytes": 1200}}}],
        outputs=[
            {
                "namespace": "teei.postgres.public",
                "name": "evidence_snippets",
                "facets": {
                    "stats": {"rowCount": 10, "bytes": 1000},
                    "columnLineage": {
                        "mappings": [
                            {"input": "buddy_feedback.feedback_text", "output": "evidence_snippets.snippet_text"},
                            {"input": "elsewhere.score", "output": "evidence_snippets.confidence_score"},
                        ]
                    },
                },
            },
            {
                "namespace": "teei.postgres.public",
                "name": "snippets_copy",
                "facets": {"outputStatistics": {"rowCount": 9, "size": 900}},
            },
        ],
        run_facets={"timing": {"durationMs": 299000}},
    ),
    event("FAIL", 7, OTHER_RUN, run_facets={"error": {"message": "rate limited"}}),
    event(
        "COMPLETE",
        8,
        LLM_RUN,
        inputs=[
            {"namespace": "openai", "name": "gpt-4", "inputFacets": {"llm": {"model": "gpt-4", "temperature": 0.2}}}
        ],
    ),
    event("COMPLETE", 9, LLM_RUN, inputs=[{**FEEDBACK, "facets": TESTS, "inputFacets": TESTS}]),
]


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    root = str(tmp_path_factory.mktemp("shapes"))
    curated(spark, root, [EVENTS[:1], EVENTS[1:]])
    return Tables(root)


def one(tables: Tables, query: str, *parameters: object) -> Any:
    """The only value of an answer."""
    [(value,)] = tables.query(query, *parameters).rows
    return value


def test_none_is_a_dead_letter(tables: Tables) -> None:
    assert tables.query("SELECT reason FROM dead_letters").rows == []
    assert tables.query("SELECT DISTINCT unnest(defects) FROM lineage_events").rows == [("run_id_not_uuid",)]


def test_row_counts_and_sizes_among_the_facets_of_a_dataset(tables: Tables) -> None:
    written = "SELECT name, row_count, size FROM (SELECT unnest(outputs, recursive := true) FROM runs) ORDER BY name"
    assert tables.query(written).rows == [("evidence_snippets", 10, 1000), ("snippets_copy", 9, 900)]
    assert one(tables, "SELECT inputs[1].row_count FROM runs WHERE run_id = ?", RUN) == 12


def test_a_stated_duration_is_kept_next_to_the_computed_one(tables: Tables) -> None:
    stated = tables.query("SELECT duration_ms, stated_duration_ms FROM runs WHERE run_id = ?", RUN)
    assert stated.rows == [(300_000, 299_000)]


def test_the_error_of_a_run(tables: Tables) -> None:
    assert one(tables, "SELECT error.message FROM runs WHERE run_id = ?", OTHER_RUN) == "rate limited"


def test_column_mappings_belong_to_the_input_of_that_name(tables: Tables) -> None:
    edges = "SELECT source_namespace, source_name, source_field, target_field FROM column_edges ORDER BY target_field"
    assert tables.query(edges).rows == [
        ("teei.postgres.public", "elsewhere", "score", "confidence_score"),
        ("teei.postgres.public", "buddy_feedback", "feedback_text", "snippet_text"),
    ]


def test_a_language_model_is_an_input(tables: Tables) -> None:
    assert one(tables, "SELECT dataset_type FROM datasets WHERE namespace = 'openai'") == "MODEL"
    assert one(tables, "SELECT inputs[1].name FROM runs WHERE run_id = ?", LLM_RUN) == "gpt-4"


def test_documentation_that_is_a_text_is_the_intent(tables: Tables) -> None:
    intent = one(tables, "SELECT DISTINCT intent_documentation FROM triangulation WHERE run_id = ?", RUN)
    assert intent == "Turns feedback into evidence"


def test_results_in_both_places_of_an_input_count_once(tables: Tables) -> None:
    results = tables.query("SELECT name, expectation, success FROM latest_results").rows
    assert results == [("buddy_feedback", "unique", True)]
