"""Events of other integrations are valid, and together they cover the whole specification."""

import json
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import attr
import pytest
from openlineage.client import generated
from openlineage.client.generated import base

from lineproof.schemas.facets import FacetRegistry
from lineproof.schemas.openlineage import KINDS, parse
from tests.foreign_events import DOCUMENTS, PAYLOADS, STATES
from tests.foreign_events.located_facets import located_facets

STANDARD = {
    "run": "parent 1-2-0, nominalTime 1-0-1, errorMessage 1-0-1, externalQuery 1-0-2, extractionError 1-1-2, "
    "processing_engine 1-1-1, environmentVariables 1-0-0, executionParameters 1-0-0, jobDependencies 1-0-1, "
    "tags 1-0-0, test 1-0-1",
    "job": "jobType 2-0-4, sql 1-1-0, sourceCode 1-0-1, sourceCodeLocation 1-1-0, documentation 1-1-0, "
    "ownership 1-0-1, tags 1-0-0, lineage 1-0-0",
    "dataset": "schema 1-2-0, columnLineage 1-2-0, dataSource 1-0-1, catalog 1-1-0, datasetType 1-0-1, version 1-0-1, "
    "documentation 1-1-0, hierarchy 1-0-0, lifecycleStateChange 1-0-1, ownership 1-0-1, storage 1-0-1, "
    "symlinks 1-0-1, tags 1-0-0, dataQualityMetrics 1-0-1, lineage 1-0-0",
    "input": "dataQualityAssertions 1-1-0, dataQualityMetrics 1-0-3, inputStatistics 1-0-0, subset 1-0-0",
    "output": "outputStatistics 1-0-2, subset 1-0-0",
}
"""The facets of the specification, by entity, with their versions."""
BASES = (base.RunFacet, base.JobFacet, base.DatasetFacet, base.InputDatasetFacet, base.OutputDatasetFacet)
FACETS = [located for document in DOCUMENTS.values() for located in located_facets(document)]
KEPT = [located for located in FACETS if not located.facet.get("_deleted")]


def client_classes() -> Iterator[Any]:
    """The facet classes of `openlineage-python`."""
    for info in pkgutil.iter_modules(generated.__path__):
        module = import_module(f"{generated.__name__}.{info.name}")
        for found in vars(module).values():
            if isinstance(found, type) and issubclass(found, BASES) and found not in BASES:
                yield found


CLIENT_CLASSES = {found._get_schema(): found for found in client_classes()}


@pytest.mark.parametrize("name", PAYLOADS)
def test_every_event_is_valid(name: str) -> None:
    event, document = parse(PAYLOADS[name]), json.loads(PAYLOADS[name])
    assert document == DOCUMENTS[name]
    assert event.payload == PAYLOADS[name]
    assert event.event_type == document.get("eventType")
    assert event.run_id is None or event.run_id == document["run"]["runId"].lower()
    assert event.run_id is None or event.run_id in STATES


def test_all_kinds_types_and_generations_occur() -> None:
    events = [parse(payload) for payload in PAYLOADS.values()]
    assert {event.kind for event in events} == set(KINDS)
    assert {event.event_type for event in events} == {"START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER", None}
    assert {document["schemaURL"].removeprefix("https://openlineage.io/spec/") for document in DOCUMENTS.values()} == {
        "2-0-2/OpenLineage.json#/$defs/RunEvent",
        "2-0-2/OpenLineage.json#/$defs/JobEvent",
        "2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "1-0-5/OpenLineage.json#/definitions/RunEvent",
        "1-0-5/OpenLineage.json#/definitions/DatasetEvent",
        "1-0-5/OpenLineage.json",
    }


@pytest.mark.parametrize("entity", STANDARD)
def test_every_standard_facet_occurs(entity: str) -> None:
    found = {(located.key, located.facet["_schemaURL"]) for located in KEPT if located.entity == entity}
    for key, version in (facet.split() for facet in STANDARD[entity].split(", ")):
        assert any(name == key and f"/facets/{version}/" in address for name, address in found), key


def test_every_facet_of_the_standard_client_occurs_with_known_members() -> None:
    """A wrong schema URL or member in our events would be unknown to the client."""
    current = [located.facet for located in KEPT if located.facet["_schemaURL"] in CLIENT_CLASSES]
    assert {facet["_schemaURL"] for facet in current} == set(CLIENT_CLASSES)
    for facet in current:
        known = {field.name for field in attr.fields(CLIENT_CLASSES[facet["_schemaURL"]])}
        assert facet.keys() <= known, facet["_schemaURL"]


def test_standard_facets_are_valid_except_the_one_that_is_not() -> None:
    problems = {
        name: [str(problem) for problem in FacetRegistry.standard().problems(document)]
        for name, document in DOCUMENTS.items()
    }
    assert {name: found for name, found in problems.items() if found} == {
        "trino: other query fails": ['run.facets.errorMessage: "programmingLanguage" is a required property']
    }


def test_dataset_and_job_facets_can_be_deleted() -> None:
    assert {located.entity for located in FACETS if located.facet.get("_deleted") is True} == {"job", "dataset"}
