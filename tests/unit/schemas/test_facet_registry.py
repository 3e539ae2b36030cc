"""Validation of the facets of an event, and the standard OpenLineage facets."""

import pkgutil
from importlib import import_module
from typing import Any

import attr
import pytest
from openlineage.client import generated

from lineproof.schemas.facets import MAX_PROBLEMS_PER_FACET, FacetRegistry
from tests.events import RUN_ID, document

REGISTRY = FacetRegistry.standard()
FOREIGN = {"_producer": "https://example.com", "_schemaURL": "https://example.com/1-0-0/Facet.json"}
TAGS = {"tags": [{"key": "tier", "value": "gold", "source": "USER"}]}
JOB = {"namespace": "tests", "name": "job"}
PARENT = {"run": {"runId": RUN_ID}, "job": JOB}
COLUMN = {"namespace": "db", "name": "t", "field": "c", "transformations": [{"type": "DIRECT", "masking": False}]}
STATISTICS = {"rowCount": 1, "size": 2, "fileCount": 3}
OWNERS = {"owners": [{"name": "team:data", "type": "OWNER"}]}

STANDARD: dict[tuple[str, str], dict[str, Any]] = {
    ("run", "parent"): {**PARENT, "root": PARENT},
    ("run", "nominalTime"): {"nominalStartTime": "2026-01-31T10:00:00Z", "nominalEndTime": "2026-01-31T11:00:00Z"},
    ("run", "errorMessage"): {"message": "no", "programmingLanguage": "python", "stackTrace": "File"},
    ("run", "processing_engine"): {"version": "4.1", "name": "spark", "openlineageAdapterVersion": "1"},
    ("run", "externalQuery"): {"externalQueryId": "q-1", "source": "warehouse"},
    ("run", "tags"): TAGS,
    ("job", "jobType"): {"processingType": "BATCH", "integration": "LINEPROOF", "jobType": "PIPELINE"},
    ("job", "sql"): {"query": "SELECT 1", "dialect": "ansi"},
    ("job", "sourceCodeLocation"): {"type": "git", "url": "https://example.com/job.py", "version": "1"},
    ("job", "documentation"): {"description": "text", "contentType": "text/markdown"},
    ("job", "ownership"): OWNERS,
    ("job", "tags"): TAGS,
    ("dataset", "schema"): {"fields": [{"name": "a", "type": "struct", "fields": [{"name": "b"}]}]},
    ("dataset", "columnLineage"): {"fields": {"a": {"inputFields": [COLUMN]}}, "dataset": [COLUMN]},
    ("dataset", "dataSource"): {"name": "db", "uri": "postgres://db:5432"},
    ("dataset", "datasetType"): {"datasetType": "TABLE", "subType": "EXTERNAL"},
    ("dataset", "version"): {"datasetVersion": "7"},
    ("dataset", "documentation"): {"description": "text"},
    ("dataset", "ownership"): OWNERS,
    ("dataset", "lifecycleStateChange"): {"lifecycleStateChange": "RENAME", "previousIdentifier": JOB},
    ("dataset", "storage"): {"storageLayer": "delta", "fileFormat": "parquet"},
    ("dataset", "symlinks"): {"identifiers": [{"namespace": "db", "name": "t", "type": "TABLE"}]},
    ("dataset", "tags"): {"tags": [{"key": "pii", "value": "true", "field": "email"}]},
    ("input", "dataQualityAssertions"): {"assertions": [{"assertion": "not_null", "success": True, "column": "id"}]},
    ("input", "dataQualityMetrics"): {"columnMetrics": {"id": {"nullCount": 0, "quantiles": {"0.5": 3.5}}}},
    ("input", "inputStatistics"): STATISTICS,
    ("output", "outputStatistics"): STATISTICS,
}


def stock_class(schema_url: str) -> Any:
    """The class of a facet in `openlineage-python`."""
    name = schema_url.rpartition("/")[2]
    modules = [import_module(f"{generated.__name__}.{each.name}") for each in pkgutil.iter_modules(generated.__path__)]
    return next(getattr(module, name) for module in modules if hasattr(module, name))


def event_with(entity: str, key: str, facet: dict[str, Any]) -> dict[str, Any]:
    if entity in ("input", "output"):
        return {f"{entity}s": [{f"{entity}Facets": {key: facet}}]}
    return {entity: {"facets": {key: facet}}}


def written(entity: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
    """A facet with the `_schemaURL` of its built-in schema."""
    return {"_producer": "urn:tests", "_schemaURL": REGISTRY.schema_url(entity, key), **body}


def test_every_standard_facet_is_tested_here() -> None:
    known = {place for place, rule in REGISTRY._rules.items() if rule.schema_url.startswith("https://openlineage.io/")}
    assert known == set(STANDARD)


@pytest.mark.parametrize("place", STANDARD)
def test_standard_facets_agree_with_the_stock_classes(place: tuple[str, str]) -> None:
    """The same address, and the same members required."""
    url = REGISTRY.schema_url(*place)
    assert url is not None
    stock = stock_class(url)
    fields = [field for field in attr.fields(stock) if not field.name.startswith("_")]
    required = {field.name for field in fields if field.default is attr.NOTHING}
    missing = {problem.message for problem in REGISTRY.problems(event_with(*place, written(*place, {})))}
    assert stock._get_schema() == url
    assert missing == {f'"{name}" is a required property' for name in required}
    for field in fields:
        wrong = REGISTRY.problems(event_with(*place, written(*place, {**STANDARD[place], field.name: [[]]})))
        assert [problem.message.startswith(field.name) for problem in wrong] == [True], field.name


@pytest.mark.parametrize("place", STANDARD)
def test_standard_facets_may_hold_more_than_we_know(place: tuple[str, str]) -> None:
    facet = written(*place, {**STANDARD[place], "later": {"any": 1}})
    assert REGISTRY.problems(event_with(*place, facet)) == []


def test_facets_are_found_wherever_they_stand() -> None:
    bad: dict[str, Any] = {"_producer": "urn:tests"}
    dataset = {"namespace": "db", "name": "t", "facets": {"a": bad}}
    found = REGISTRY.problems(
        document(
            run={"runId": RUN_ID, "facets": {"a": bad, "good": FOREIGN}},
            job={**JOB, "facets": {"a": bad}},
            inputs=[{"namespace": "db", "name": "t"}, {**dataset, "inputFacets": {"a": bad}}],
            outputs=[{**dataset, "outputFacets": {"a": bad}}],
        )
    )
    found += REGISTRY.problems({"dataset": dataset})
    assert [(problem.path, problem.entity) for problem in found] == [
        ("run.facets.a", "run"),
        ("job.facets.a", "job"),
        ("inputs.1.facets.a", "dataset"),
        ("inputs.1.inputFacets.a", "input"),
        ("outputs.0.facets.a", "dataset"),
        ("outputs.0.outputFacets.a", "output"),
        ("dataset.facets.a", "dataset"),
    ]
    assert str(found[0]) == 'run.facets.a: "_schemaURL" is a required property'


def test_an_event_without_facets_has_no_problem() -> None:
    assert REGISTRY.problems({"run": {"runId": RUN_ID}, "job": JOB}) == []


@pytest.mark.parametrize("key", ["acme_unknown", "cdme_execution", "cdme.execution", "errorMessage"])
def test_facets_with_another_schema_need_only_the_common_members(key: str) -> None:
    assert REGISTRY.problems(event_with("run", key, {**FOREIGN, "anything": [1]})) == []
    assert len(REGISTRY.problems(event_with("run", key, {"anything": [1]}))) == 2


def test_a_deleted_facet_needs_no_body() -> None:
    for entity, key in (("job", "lineproof_sla"), ("dataset", "cdme_grain"), ("dataset", "version")):
        assert REGISTRY.problems(event_with(entity, key, written(entity, key, {"_deleted": True}))) == []
        assert REGISTRY.problems(event_with(entity, key, written(entity, key, {"_deleted": False}))) != []


def test_a_run_has_no_facet_to_delete() -> None:
    facet = written("run", "lineproof_llmCost", {"amount": 1, "currency": "EUR", "_deleted": True})
    (problem,) = REGISTRY.problems(event_with("run", "lineproof_llmCost", facet))
    assert "_deleted" in problem.message


def test_messages_do_not_contain_values() -> None:
    facet = written("run", "lineproof_llmCost", {"amount": "hunter2", "currency": "hunter2"})
    found = REGISTRY.problems(event_with("run", "lineproof_llmCost", facet))
    assert len(found) == 2
    assert not any("hunter2" in str(problem) for problem in found)


def test_the_problems_of_one_facet_are_limited() -> None:
    facet = written("run", "lineproof_llmCitations", {"citations": [{}] * 1000})
    found = REGISTRY.problems(event_with("run", "lineproof_llmCitations", facet))
    assert len(found) == MAX_PROBLEMS_PER_FACET
