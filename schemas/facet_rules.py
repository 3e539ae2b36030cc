"""From a facet's JSON Schema to a compiled rule. Whatever a schema refers to, nothing is fetched."""

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
"""What a facet can belong to, and what OpenLineage calls a facet that does."""

_BASE: dict[str, Any] = json.loads(files("lineproof.schemas").joinpath("facet_base.json").read_text())
_DIALECT = _BASE["$schema"]
_BASE_ADDRESS = re.compile(r"https://openlineage\.io/spec/[0-9-]+/OpenLineage\.json")


class UnusableFacetSchema(LineproofError):
    """A user's facet is configured in a way that nothing could be checked by."""

    exit_code = 2


Refusal = Callable[[str, str], UnusableFacetSchema]


@dataclass(frozen=True)
class Rule:
    """What facets that carry this `_schemaURL` must keep."""

    schema_url: str
    validator: jsonschema_rs.Validator


def built_in_rules() -> dict[tuple[str, str], Rule]:
    """The rules of all facets in `facet_schemas`, by entity and key."""
    folder = files("lineproof.schemas").joinpath("facet_schemas")
    documents = [json.loads(file.read_text()) for file in folder.iterdir()]
    return {place: _rule(*place, document) for document in documents for place in [_entity_and_key(document)]}


def user_rule(entity: str, key: str, file: Path) -> Rule:
    """The rule in a user's file: in OpenLineage's form, or simply the facet's schema."""
    refuse = partial(_refusal, entity, key, file)
    document = _read(file, refuse)
    _refuse_unfit(document, key, refuse)
    try:
        # By itself first, so that all of it is checked against JSON Schema, and unmasked, so that the user can see it.
        jsonschema_rs.validator_for(document, retriever=_retrieve)
        rule = _rule(entity, key, document)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise refuse(
            f"it is not a usable JSON Schema: {_fault(error)}",
            "Correct it. What it refers to must be in its own $defs: nothing is fetched.",
        ) from error
    if _is_closed_to_base_members(rule):
        raise refuse("it allows no _producer", "Add _producer and _schemaURL to its properties: every facet has them.")
    return rule


@cache
def base_validator(entity: str) -> jsonschema_rs.Validator:
    """What every facet of this entity must keep."""
    return _compile({"$ref": _base_address(entity)})


def _entity_and_key(document: dict[str, Any]) -> tuple[str, str]:
    """A schema of ours says by its class's `$ref` what its facet belongs to."""
    ((key, described),) = document["properties"].items()
    definition = document["$defs"][described["$ref"].rpartition("/")[2]]
    base = definition["$ref"].rpartition("/")[2]
    return next(entity for entity, name in ENTITIES.items() if name == base), key


def _rule(entity: str, key: str, document: dict[str, Any]) -> Rule:
    """In OpenLineage's form a file describes the facet as a property of its name; else the file is its schema."""
    described = document.get("properties", {}).get(key)
    place = "" if described is None else f"/properties/{key}"
    both = [{"$ref": _base_address(entity)}, {"$ref": f"#/$defs/file{place}"}]
    validator = _compile({"$schema": _DIALECT, "$defs": {"file": document}, "allOf": both})
    return Rule(_schema_url(document["$id"], described), validator)


def _schema_url(address: str, described: Any) -> str:
    """An address on the web gets the facet's place in the file, as OpenLineage has it; a URN names the facet itself."""
    reference = described.get("$ref", "") if isinstance(described, dict) else ""
    return address + reference if address.startswith("http") else address


def _compile(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    # Facets may hold what is private: the mask keeps it out of messages.
    return jsonschema_rs.validator_for(schema, validate_formats=True, mask="the value", retriever=_retrieve)


def _retrieve(address: str) -> dict[str, Any]:
    """Stands where the library would go to the network or to disk."""
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


def _refuse_unfit(document: dict[str, Any], key: str, refuse: Refusal) -> None:
    address = document.get("$id")
    if not isinstance(address, str) or not urlsplit(address).scheme or "#" in address:
        raise refuse("it has no absolute $id", "Give it one that changes with every change: facets carry it.")
    if document.get("$schema", _DIALECT) != _DIALECT:
        raise refuse("it is not in JSON Schema 2020-12, as OpenLineage's are", f"Set its $schema to {_DIALECT}.")
    if other := _other_facet(document, key):
        raise refuse(f"it describes {other}", f"Call the property {key}, or configure the file under {other}.")


def _other_facet(document: dict[str, Any], key: str) -> str | None:
    """The facet that a file in OpenLineage's form describes, where it is not the one it is configured for."""
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
    """Messages name members but, thanks to the mask, no values."""
    errors = rule.validator.iter_errors({"_producer": rule.schema_url, "_schemaURL": rule.schema_url})
    nothing_allowed = jsonschema_rs.ValidationErrorKind.FalseSchema
    return any("_producer" in error.message or isinstance(error.kind, nothing_allowed) for error in errors)
