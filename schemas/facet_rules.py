"""Compile the JSON Schema of a facet to a validator. Referenced schemas are never fetched."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema_rs

from lineproof.schemas.errors import LineproofError

ENTITIES = {
    "run": "RunFacet",
    "job": "JobFacet",
    "dataset": "DatasetFacet",
    "input": "InputDatasetFacet",
    "output": "OutputDatasetFacet",
}
"""The entities that have facets, and the OpenLineage class of such a facet."""

_BASE: dict[str, Any] = json.loads(files("lineproof.schemas").joinpath("facet_base.json").read_text())
_DIALECT = _BASE["$schema"]
_BASE_ADDRESS = re.compile(r"https://openlineage\.io/spec/[0-9-]+/OpenLineage\.json")


class UnusableFacetSchema(LineproofError):
    """The schema or the name of a user's facet cannot be used."""

    exit_code = 2


Refusal = Callable[[str, str], UnusableFacetSchema]


@dataclass(frozen=True)
class Rule:
    """The validator for facets with this `_schemaURL`."""

    schema_url: str
    validator: jsonschema_rs.Validator


def built_in_rules() -> dict[tuple[str, str], Rule]:
    """The rules for all facets in `facet_schemas`, by entity and key."""
    folder = files("lineproof.schemas").joinpath("facet_schemas")
    documents = [json.loads(file.read_text()) for file in folder.iterdir()]
    return {place: _rule(*place, document) for document in documents for place in [_entity_and_key(document)]}


def user_rule(entity: str, key: str, file: Path) -> Rule:
    """The rule in a user's file, which is in OpenLineage's form or is just the schema of the facet."""
    refuse = partial(_refusal, entity, key, file)
    document = _read(file, refuse)
    _refuse_unusable(document, key, refuse)
    try:
        # First alone: then all of it is checked against JSON Schema, and messages show the values to the user.
        jsonschema_rs.validator_for(document, retriever=_retrieve)
        rule = _rule(entity, key, document)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise refuse(
            f"it is not a usable JSON Schema: {_fault(error)}",
            "Correct it. Referenced schemas must be in its own $defs: nothing is fetched.",
        ) from error
    if _is_closed_to_base_members(rule):
        raise refuse("it allows no _producer", "Add _producer and _schemaURL to its properties: every facet has them.")
    return rule


@cache
def base_validator(entity: str) -> jsonschema_rs.Validator:
    """The validator for all facets of this entity."""
    return _compile({"$ref": _base_address(entity)})


def _entity_and_key(document: dict[str, Any]) -> tuple[str, str]:
    """The `$ref` of the class in a built-in schema names the entity."""
    ((key, described),) = document["properties"].items()
    definition = document["$defs"][described["$ref"].rpartition("/")[2]]
    base = definition["$ref"].rpartition("/")[2]
    return next(entity for entity, name in ENTITIES.items() if name == base), key


def _rule(entity: str, key: str, document: dict[str, Any]) -> Rule:
    """In OpenLineage's form, the file has the facet as a property. Otherwise the file is the schema of the facet."""
    described = document.get("properties", {}).get(key)
    place = "" if described is None else f"/properties/{key}"
    both = [{"$ref": _base_address(entity)}, {"$ref": f"#/$defs/file{place}"}]
    validator = _compile({"$schema": _DIALECT, "$defs": {"file": document}, "allOf": both})
    return Rule(_schema_url(document["$id"], described), validator)


def _schema_url(address: str, described: Any) -> str:
    """An http address is followed by the path in the file, as in OpenLineage; a URN names the facet itself."""
    reference = described.get("$ref", "") if isinstance(described, dict) else ""
    return address + reference if address.startswith("http") else address


def _compile(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    # Facets may hold private data: the mask keeps values out of messages.
    return jsonschema_rs.validator_for(schema, validate_formats=True, mask="the value", retriever=_retrieve)


def _retrieve(address: str) -> dict[str, Any]:
    """Replaces the library's access to the network and to the disk."""
    if _BASE_ADDRESS.fullmatch(address):
        return _BASE
    raise LookupError("schemas are not fetched")


def _base_address(entity: str) -> str:
    return f"{_BASE['$id']}#/$defs/{ENTITIES[entity]}"


def _refusal(entity: str, key: str, file: Path, what: str, remedy: str) -> UnusableFacetSchema:
    return UnusableFacetSchema(f"The schema {file} of the {entity} facet {key} cannot be used: {what}.", remedy)


def _read(file: Path, refuse: Refusal) -> dict[str, Any]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise refuse(f"it cannot be read ({error.strerror})", "Correct the path in the configuration.") from error
    except (ValueError, RecursionError) as error:
        raise refuse(f"it is not JSON: {error}", "Correct the file.") from error
    if not isinstance(document, dict):
        raise refuse("it is not a JSON object", "Write the schema as an object with $id, type and properties.")
    return document


def _refuse_unusable(document: dict[str, Any], key: str, refuse: Refusal) -> None:
    address = document.get("$id")
    if not isinstance(address, str) or not urlsplit(address).scheme or "#" in address:
        raise refuse("it has no absolute $id", "Add an $id, and change it with the schema: facets refer to it.")
    if document.get("$schema", _DIALECT) != _DIALECT:
        raise refuse("it is not in JSON Schema 2020-12, as OpenLineage's are", f"Set its $schema to {_DIALECT}.")
    if other := _other_facet(document, key):
        raise refuse(f"it describes {other}", f"Call the property {key}, or configure the file under {other}.")


def _other_facet(document: dict[str, Any], key: str) -> str | None:
    """The facet that a file in OpenLineage's form describes, if it is another one than configured."""
    properties = document.get("properties")
    if not isinstance(properties, dict) or key in properties:
        return None
    references = {name: member.get("$ref") for name, member in properties.items() if isinstance(member, dict)}
    return next((name for name, target in references.items() if str(target).endswith("Facet")), None)


def _fault(error: Exception) -> str:
    place = ".".join(map(str, getattr(error, "instance_path", ())))
    what = str(error).partition("\n")[0]
    return f"{place}: {what}" if place else what


def _is_closed_to_base_members(rule: Rule) -> bool:
    """Whether the schema refuses `_producer`, by the messages. The mask keeps values out of them."""
    errors = rule.validator.iter_errors({"_producer": rule.schema_url, "_schemaURL": rule.schema_url})
    allows_nothing = jsonschema_rs.ValidationErrorKind.FalseSchema
    return any("_producer" in error.message or isinstance(error.kind, allows_nothing) for error in errors)
