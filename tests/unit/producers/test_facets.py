"""lineproof's facet classes match their JSON Schemas."""

import inspect
import json
from collections.abc import Iterator
from functools import reduce
from importlib.resources import files
from operator import getitem
from typing import Any

import attr
import pytest
from openlineage.client.generated import base
from openlineage.client.serde import Serde

from lineproof.producers import facets as ours
from lineproof.schemas.certificates import chain_hash
from lineproof.schemas.facets import FacetRegistry
from tests.facets import CERTIFICATE, FULL, MINIMAL

REGISTRY = FacetRegistry.standard()
PLACES = {
    base.RunFacet: ("run", "run.facets"),
    base.JobFacet: ("job", "job.facets"),
    base.DatasetFacet: ("dataset", "dataset.facets"),
    base.OutputDatasetFacet: ("output", "outputs.0.outputFacets"),
}
CLASSES = [type(facet) for facet in FULL]


def place_of(facet_class: type) -> tuple[str, str]:
    return next(place for parent, place in PLACES.items() if issubclass(facet_class, parent))


def event(path: str, key: str, facet: Any) -> dict[str, Any]:
    """An event with one facet, at one of `PLACES`."""
    owner, *rest = path.split(".")
    return {owner: [{rest[-1]: {key: facet}}] if rest[0] == "0" else {rest[-1]: {key: facet}}}


def problems(facet_class: Any, document: Any) -> list[tuple[str, str, str, str]]:
    found = REGISTRY.problems(event(place_of(facet_class)[1], facet_class.KEY, document))
    return [(problem.path, problem.entity, problem.key, problem.message) for problem in found]


def schema_of(facet_class: Any) -> tuple[str, dict[str, Any]]:
    """The name of a class in its schema, and its `$defs`."""
    name = facet_class._get_schema().rpartition(":")[2]
    text = files("lineproof.schemas").joinpath("facet_schemas").joinpath(f"{name}.json").read_text()
    return name, json.loads(text)["$defs"]


def required_members(defs: dict[str, Any], name: str, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every required member; lists by their first element."""
    yield from ((*path, member) for member in defs[name].get("required", ()))
    for member, rule in defs[name]["properties"].items():
        for part, step in ((rule, ()), (rule.get("items", {}), (0,))):
            if "$ref" in part:
                yield from required_members(defs, part["$ref"].rpartition("/")[2], (*path, member, *step))


REQUIRED = [
    pytest.param(facet, path, id=f"{facet.KEY}.{'.'.join(map(str, path))}")
    for facet in FULL
    for path in required_members(schema_of(type(facet))[1], schema_of(type(facet))[0])
]


def test_every_facet_class_and_schema_is_tested_here() -> None:
    exported = {value for value in vars(ours).values() if inspect.isclass(value) and hasattr(value, "KEY")}
    schemas = {rule.schema_url for rule in REGISTRY._rules.values() if rule.schema_url.startswith("urn:lineproof:")}
    assert exported == {type(facet) for facet in MINIMAL} == set(CLASSES)
    assert schemas == {facet_class._get_schema() for facet_class in CLASSES}


@pytest.mark.parametrize("facet", MINIMAL + FULL, ids=lambda facet: facet.KEY)
def test_facets_are_valid_by_their_schemas(facet: Any) -> None:
    document = Serde.to_dict(facet)
    assert document["_schemaURL"] == REGISTRY.schema_url(place_of(type(facet))[0], facet.KEY)
    assert document["_producer"]
    assert problems(type(facet), document) == []


@pytest.mark.parametrize("facet_class", CLASSES)
def test_class_and_schema_have_the_same_members(facet_class: Any) -> None:
    name, defs = schema_of(facet_class)
    for part, definition in defs.items():
        fields = attr.fields(facet_class if part == name else getattr(ours, part))
        own = [field for field in fields if not field.name.startswith("_")]
        assert {field.name for field in own} == set(definition["properties"]), part
        required = {field.name for field in own if field.default is attr.NOTHING}
        assert required == set(definition.get("required", ())), part


@pytest.mark.parametrize(("facet", "path"), REQUIRED)
def test_a_missing_required_member_is_a_problem(facet: Any, path: tuple[Any, ...]) -> None:
    document = Serde.to_dict(facet)
    *way, member = path
    del reduce(getitem, way, document)[member]
    where = f"{'.'.join(map(str, way))}: " if way else ""
    entity, place = place_of(type(facet))
    message = f'{where}"{member}" is a required property'
    assert problems(type(facet), document) == [(f"{place}.{facet.KEY}", entity, facet.KEY, message)]


@pytest.mark.parametrize(("facet", "path"), REQUIRED)
def test_a_required_member_of_a_wrong_type_is_a_problem(facet: Any, path: tuple[Any, ...]) -> None:
    document = Serde.to_dict(facet)
    *way, member = path
    reduce(getitem, way, document)[member] = [[]]  # no member of any facet is a list of lists
    found = problems(type(facet), document)
    assert [problem[0] for problem in found] == [f"{place_of(type(facet))[1]}.{facet.KEY}"]
    assert found[0][3].startswith(".".join(map(str, path)))


@pytest.mark.parametrize("facet", FULL, ids=lambda facet: facet.KEY)
def test_an_unknown_member_is_a_problem(facet: Any) -> None:
    found = problems(type(facet), {**Serde.to_dict(facet), "surprise": 1})
    assert [("surprise" in message) for *_, message in found] == [True]


@pytest.mark.parametrize("facet", [facet for facet in FULL if facet.KEY.startswith("cdme_")], ids=lambda f: f.KEY)
def test_old_and_new_cdme_keys_are_validated(facet: Any) -> None:
    entity, place = place_of(type(facet))
    key = facet.KEY.replace("cdme_", "cdme.")
    document = Serde.to_dict(facet)
    assert REGISTRY.problems(event(place, key, document)) == []
    found = REGISTRY.problems(event(place, key, {**document, "surprise": 1}))
    assert [(problem.path, problem.entity, problem.key) for problem in found] == [(f"{place}.{key}", entity, key)]


@pytest.mark.parametrize(
    "facet",
    [
        ours.CdmeExecutionRunFacet("2026-01-31", "full"),
        ours.CdmeMorphismTraceRunFacet({}, 0),
        ours.CdmeMorphismJobFacet([ours.MorphismStep("sum", "ALGEBRAIC", "many")], True),
        ours.CdmeGrainDatasetFacet("order", []),
        ours.AccountingLedgerRunFacet(0, -1),
        ours.ProgressRunFacet(percentComplete=101),
        ours.SlaJobFacet(0),
        ours.CostJobFacet(1, "euro"),
        ours.QualityMetricsDatasetFacet(),
        ours.QualityMetricsDatasetFacet(validity=1.1),
        ours.MetricValueOutputDatasetFacet("sroi", float("nan")),
        ours.LlmModelDatasetFacet("small-1", "acme", temperature=-0.1),
        ours.LlmModelDatasetFacet("small-1", "acme", maxTokens=0),
        ours.LlmCitationsRunFacet([ours.Citation("feedback", confidence=2)]),
    ],
    ids=lambda facet: facet.KEY,
)
def test_values_out_of_bounds_are_a_problem(facet: Any) -> None:
    assert len(problems(type(facet), Serde.to_dict(facet))) == 1


def test_a_certificate_survives_the_round_trip_through_its_facet() -> None:
    """Readers can recompute the hash from the event."""
    facet = ours.CdmeFidelityCertificateRunFacet.from_certificate(CERTIFICATE)
    document = json.loads(Serde.to_json(facet))
    members = {name: value for name, value in document.items() if not name.startswith("_")}
    returned = ours.CdmeFidelityCertificateRunFacet(**members).to_certificate()
    assert returned == CERTIFICATE
    assert chain_hash(returned) == document["chainHash"]


def test_totals_and_verdicts_are_computed() -> None:
    assert ours.LlmTokensRunFacet(100, 20).totalTokens == 120
    assert ours.AccountingLedgerRunFacet(10, 8, 1, 1).balanced
    assert not ours.AccountingLedgerRunFacet(10, 8).balanced


def test_job_type_is_the_standard_facet() -> None:
    document = Serde.to_dict(ours.job_type(ours.ProcessingType.STREAMING))
    assert (document["processingType"], document["integration"], document["jobType"]) == (
        "STREAMING",
        "LINEPROOF",
        "PIPELINE",
    )
    assert document["_schemaURL"] == REGISTRY.schema_url("job", "jobType")
    assert REGISTRY.problems({"job": {"facets": {"jobType": document}}}) == []
