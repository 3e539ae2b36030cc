"""Facets that a user adds by configuration."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from lineproof.schemas.facet_rules import UnusableFacetSchema
from lineproof.schemas.facets import FacetRegistry

STANDARD = FacetRegistry.standard()
KEY = "acme_deployment"
COMMIT = {"type": "string", "pattern": "^[0-9a-f]{7}$"}
PLAIN = {"$id": "urn:acme:deployment:1", "type": "object", "required": ["commit"], "properties": {"commit": COMMIT}}
OPENLINEAGE_FORM = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://acme.example/1-0-0/Deployment.json",
    "$defs": {
        "AcmeDeploymentRunFacet": {
            "allOf": [
                {"$ref": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunFacet"},
                {"type": "object", "required": ["commit"], "properties": {"commit": {"$ref": "#/$defs/Commit"}}},
            ]
        },
        "Commit": COMMIT,
    },
    "type": "object",
    "properties": {KEY: {"$ref": "#/$defs/AcmeDeploymentRunFacet"}},
}
INLINE = {"$id": "urn:acme:deployment:1", "properties": {KEY: PLAIN | {"$id": "urn:acme:inner"}}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "deployment.json"


def registry(file: Path, document: Any, entity: str = "run", key: str = KEY) -> FacetRegistry:
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return STANDARD.with_user_facets({entity: {key: file}})


@pytest.mark.parametrize(
    ("document", "url"),
    [
        (PLAIN, "urn:acme:deployment:1"),
        (OPENLINEAGE_FORM, "https://acme.example/1-0-0/Deployment.json#/$defs/AcmeDeploymentRunFacet"),
        ({**OPENLINEAGE_FORM, "$id": "HTTPS://Acme.example"}, "HTTPS://Acme.example"),
        (INLINE, "urn:acme:deployment:1"),
    ],
    ids=["plain", "as OpenLineage", "an address not in normal form", "without $defs"],
)
def test_a_user_facet_is_validated_by_its_schema(file: Path, document: dict[str, Any], url: str) -> None:
    known = registry(file, document)
    facet = {"_producer": "urn:tests", "_schemaURL": url, "commit": "abcdef0"}
    assert known.schema_url("run", KEY) == url
    assert known.problems({"run": {"facets": {KEY: facet}}}) == []
    wrong = known.problems({"run": {"facets": {KEY: {**facet, "commit": "HEAD"}}}})
    missing = known.problems({"run": {"facets": {KEY: {"_schemaURL": url}}}})
    assert [problem.path for problem in wrong] == [f"run.facets.{KEY}"]
    assert len(missing) >= 2, "the commit and the producer"


def test_with_user_facets_keeps_built_in_facets_and_returns_a_new_registry(file: Path) -> None:
    known = registry(file, PLAIN)
    assert known.schema_url("run", "cdme_execution") == STANDARD.schema_url("run", "cdme_execution")
    assert STANDARD.schema_url("run", KEY) is None


def test_one_schema_file_can_serve_several_facets(file: Path) -> None:
    file.write_text(json.dumps({"$id": "urn:acme:all:1", "properties": {"acme_a": {}, "acme_b": {"required": ["b"]}}}))
    known = STANDARD.with_user_facets({"job": {"acme_a": file, "acme_b": file}})
    facet = {"_producer": "urn:tests", "_schemaURL": "urn:acme:all:1"}
    found = known.problems({"job": {"facets": {"acme_a": facet, "acme_b": facet}}})
    assert [problem.key for problem in found] == ["acme_b"]


BAD = {
    "not JSON": ("{", "not JSON"),
    "not an object": ("[]", "not a JSON object"),
    "no $id": ({**PLAIN, "$id": None}, r"absolute \$id"),
    "a relative $id": ({**PLAIN, "$id": "deployment.json"}, r"absolute \$id"),
    "an $id with a fragment": ({**PLAIN, "$id": "urn:acme:x#y"}, r"absolute \$id"),
    "an unknown type": ({**PLAIN, "type": "table"}, "not a usable JSON Schema: type: .*table"),
    "an unknown type deep inside": (
        {**PLAIN, "properties": {"a": {"items": {"type": "table"}}}},
        "a.items.type: ",
    ),
    "properties that are none": ({**PLAIN, "properties": 5}, "not a usable JSON Schema"),
    "a bad pattern": ({**PLAIN, "properties": {"a": {"pattern": "("}}}, "regex"),
    "an older JSON Schema": ({**PLAIN, "$schema": "http://json-schema.org/draft-07/schema#"}, "2020-12"),
    "an own JSON Schema dialect": ({**PLAIN, "$schema": "https://acme.example/meta"}, "2020-12"),
    "a remote reference": ({**PLAIN, "allOf": [{"$ref": "https://acme.example/x.json"}]}, "acme.example/x.json"),
    "a reference to a file": ({**PLAIN, "allOf": [{"$ref": "file:///etc/hosts"}]}, "file:///etc/hosts"),
    "a reference to nothing": ({**PLAIN, "allOf": [{"$ref": "#/$defs/gone"}]}, "gone"),
    "another facet's schema": (
        {**OPENLINEAGE_FORM, "properties": {"acme_other": {"$ref": "#/$defs/AcmeDeploymentRunFacet"}}},
        "describes acme_other",
    ),
    "no room for _producer": ({**PLAIN, "additionalProperties": False}, "allows no _producer"),
    "no room for anything": ({"$id": "urn:acme:deployment:1", "additionalProperties": False}, "allows no _producer"),
    "names that _producer has not": ({**PLAIN, "propertyNames": {"pattern": "^[a-z]"}}, "allows no _producer"),
}


@pytest.mark.parametrize(("document", "named"), BAD.values(), ids=BAD.keys())
def test_an_invalid_schema_raises_with_file_and_reason(file: Path, document: Any, named: str) -> None:
    with pytest.raises(UnusableFacetSchema, match=named) as refusal:
        registry(file, document)
    assert str(file) in refusal.value.what
    assert KEY in refusal.value.what
    assert refusal.value.remedy
    assert refusal.value.exit_code == 2


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnusableFacetSchema, match=r"gone\.json.*cannot be read"):
        STANDARD.with_user_facets({"run": {KEY: tmp_path / "gone.json"}})


def test_a_closed_schema_that_allows_the_base_members_is_accepted(file: Path) -> None:
    base: dict[str, Any] = {"_producer": {}, "_schemaURL": {}}
    registry(file, {**PLAIN, "additionalProperties": False, "properties": {**base, "commit": COMMIT}})


@pytest.mark.parametrize(
    ("entity", "key", "named"),
    [
        ("run", "deployment", "prefix"),
        ("run", "acme_", "prefix"),
        ("run", "acme.deployment", "prefix"),
        ("run", "cdme_execution", "built in"),
        ("run", "processing_engine", "built in"),
        ("runs", KEY, "one of run, job, dataset, input, output"),
    ],
)
def test_a_reserved_key_raises(file: Path, entity: str, key: str, named: str) -> None:
    with pytest.raises(UnusableFacetSchema, match=named) as refusal:
        registry(file, PLAIN, entity, key)
    assert key in refusal.value.what


@pytest.fixture
def requested() -> Iterator[tuple[str, list[str]]]:
    """The URL of a server, and the requests it received."""
    paths: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(404)
            self.end_headers()

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("member", ["$ref", "$dynamicRef", "$schema"])
def test_remote_references_are_not_fetched(file: Path, requested: tuple[str, list[str]], member: str) -> None:
    address, paths = requested
    with pytest.raises(UnusableFacetSchema):
        registry(file, {"$id": f"{address}/facet.json", member: f"{address}/other.json"})
    registry(file, {**PLAIN, "$id": f"{address}/facet.json"})
    assert paths == []
