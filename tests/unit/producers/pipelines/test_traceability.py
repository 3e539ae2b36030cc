"""Column lineage, keys and parents: every figure can be traced to its sources."""

from typing import Any

import pytest

from tests.unit.producers.pipelines.world import World, datasets


def test_evidence_is_traceable_to_feedback(finished: World) -> None:
    (evidence,) = finished.completed("q2q-evidence-extraction")["outputs"]
    sources = {
        column: {(field["name"], field["field"]) for field in lineage["inputFields"]}
        for column, lineage in evidence["facets"]["columnLineage"]["fields"].items()
    }
    assert ("buddy_feedback", "feedback_text") in sources["snippet_text"]
    assert ("buddy_feedback", "sentiment") in sources["confidence_score"]
    keys = {
        envelope["outputKey"]: envelope["inputKeys"]
        for envelope in evidence["facets"]["cdme_adjointMetadata"]["keyEnvelopes"]
    }
    assert keys == {snippet: [feedback] for snippet, feedback in finished.query(
        "SELECT snippet_id, feedback_id FROM evidence_snippets"
    )}  # fmt: skip


def test_column_lineage_refers_to_existing_columns(finished: World) -> None:
    ends = [event for event in finished.memory.documents if event["eventType"] == "COMPLETE"]
    for event in ends:
        columns = {
            (dataset["namespace"], dataset["name"]): _field_names(dataset["facets"]["schema"])
            for dataset in event["inputs"]
        }
        for output in event["outputs"]:
            lineage = output["facets"]["columnLineage"]["fields"]
            assert set(lineage) <= _field_names(output["facets"]["schema"])
            for source in (source for column in lineage.values() for source in column["inputFields"]):
                assert source["field"] in columns[source["namespace"], source["name"]]


def _field_names(schema: dict[str, Any], prefix: str = "") -> set[str]:
    names = set()
    for field in schema["fields"]:
        names |= {prefix + field["name"]} | _field_names({"fields": field.get("fields", [])}, f"{field['name']}.")
    return names


def test_sroi_is_traceable_to_workday(finished: World) -> None:
    """From the metric, through `buddy_system_events`, to the external system."""
    made_of: dict[str, set[str]] = {}
    for event in finished.memory.documents:
        for output in datasets(event, "outputs"):
            made_of.setdefault(output, set()).update(datasets(event, "inputs"))
    found, open_ends = set(), {"sroi_calculations"}
    while open_ends:
        found |= open_ends
        open_ends = {source for name in open_ends for source in made_of.get(name, ())} - found
    assert found == {"sroi_calculations", "sroi_valuation_weights", "buddy_system_events", "workday.api/worker_events"}


def test_metric_values_equal_those_of_the_table(finished: World) -> None:
    sroi = next(
        dataset
        for dataset in finished.completed("sroi-calculation")["outputs"]
        if dataset["name"] == "sroi_calculations"
    )["outputFacets"]["lineproof_metricValue"]
    ((value,),) = finished.query("SELECT sum(social_value) / sum(investment) FROM sroi_calculations")
    assert (sroi["metric"], sroi["value"]) == ("sroi", pytest.approx(value, abs=0.0001))


def test_scheduled_reports_is_the_parent_of_two_runs(finished: World) -> None:
    (start,) = finished.events("scheduled-reports", "START")
    for name in ("report-generation", "pdf-export"):
        alone, nested = finished.events(name, "START")
        parent = nested["run"]["facets"]["parent"]
        for parent_run in (parent, parent["root"]):
            assert parent_run["run"]["runId"] == start["run"]["runId"]
            assert (parent_run["job"]["namespace"], parent_run["job"]["name"]) == ("impact", "scheduled-reports")
        assert "parent" not in alone["run"]["facets"]
