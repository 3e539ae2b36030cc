"""Validate the facets of an event: those that lineproof writes, and those that a user configures.

A facet is validated against a schema only if its `_schemaURL` names that schema. With any other URL, of an older
version or of another producer, the same key follows unknown rules. Then only the rules for all facets apply.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import jsonschema_rs

from lineproof.schemas.facet_rules import (
    ENTITIES,
    Rule,
    UnusableFacetSchema,
    base_validator,
    built_in_rules,
    user_rule,
)

MAX_PROBLEMS_PER_FACET = 3

Entity = TypeVar("Entity", bound=str)

_DELETABLE = ("job", "dataset")
_USER_KEY = re.compile(r"[A-Za-z][A-Za-z0-9]*_[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class FacetProblem:
    """A problem of one facet: its path in the event, and the group of facets that it belongs to."""

    path: str
    entity: str
    key: str
    message: str
    group: dict[str, Any] = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(frozen=True)
class FacetRegistry:
    """The schemas of known facets, by entity and key."""

    _rules: Mapping[tuple[str, str], Rule]

    @classmethod
    @cache
    def standard(cls) -> "FacetRegistry":
        """The facets of lineproof, and the OpenLineage facets that it writes."""
        rules = built_in_rules()
        # The first generation of CDME has a dot in the key where the second has an underscore.
        dotted = {
            (entity, key.replace("_", ".", 1)): rule for (entity, key), rule in rules.items() if key.startswith("cdme_")
        }
        return cls({**rules, **dotted})

    def with_user_facets(self, schemas: Mapping[Entity, Mapping[str, Path]]) -> "FacetRegistry":
        """A registry with the user's facets added: schema files by entity and key."""
        rules = dict(self._rules)
        for entity, by_key in schemas.items():
            for key, file in by_key.items():
                _refuse_name(entity, key, is_taken=(entity, key) in rules)
                rules[entity, key] = user_rule(entity, key, file)
        return FacetRegistry(rules)

    def schema_url(self, entity: str, key: str) -> str | None:
        """The `_schemaURL` of a known facet; None if the facet is not known."""
        rule = self._rules.get((entity, key))
        return rule.schema_url if rule else None

    def problems(self, document: dict[str, Any]) -> list[FacetProblem]:
        """The problems of all facets of an event that is otherwise valid."""
        found: list[FacetProblem] = []
        for entity, path, facets in _facet_groups(document):
            for key, facet in facets.items():
                validator = self._validator(entity, key, facet)
                if not validator.is_valid(facet):
                    messages = islice(_messages(validator, facet), MAX_PROBLEMS_PER_FACET)
                    found.extend(FacetProblem(f"{path}.{key}", entity, key, message, facets) for message in messages)
        return found

    def _validator(self, entity: str, key: str, facet: dict[str, Any]) -> jsonschema_rs.Validator:
        rule = self._rules.get((entity, key))
        if rule is None or facet.get("_schemaURL") != rule.schema_url:
            return base_validator(entity)
        if facet.get("_deleted") is True and entity in _DELETABLE:
            return base_validator(entity)
        return rule.validator


def _facet_groups(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every group of facets in an event: the entity, the path, and the facets."""
    for entity in ("run", "job", "dataset"):
        if entity in document:
            yield entity, f"{entity}.facets", document[entity].get("facets", {})
    for side, entity in (("inputs", "input"), ("outputs", "output")):
        for position, dataset in enumerate(document.get(side, ())):
            yield "dataset", f"{side}.{position}.facets", dataset.get("facets", {})
            yield entity, f"{side}.{position}.{entity}Facets", dataset.get(f"{entity}Facets", {})


def _messages(validator: jsonschema_rs.Validator, facet: dict[str, Any]) -> Iterator[str]:
    for error in validator.iter_errors(facet):
        member = ".".join(map(str, error.instance_path))
        yield f"{member}: {error.message}" if member else error.message


def _refuse_name(entity: str, key: str, *, is_taken: bool) -> None:
    if entity not in ENTITIES:
        raise UnusableFacetSchema(
            f"The facet {key} is configured for {entity!r}, which cannot have facets.",
            f"Configure it under one of {', '.join(ENTITIES)}.",
        )
    if not _USER_KEY.fullmatch(key):
        raise UnusableFacetSchema(
            f"The {entity} facet {key!r} has no prefix that names its owner.",
            "Use a prefix, an underscore and a name, such as acme_deployment.",
        )
    if is_taken:
        raise UnusableFacetSchema(
            f"The {entity} facet {key} is already built in.", "Use another name, with your own prefix."
        )
