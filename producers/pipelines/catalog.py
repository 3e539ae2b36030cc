"""The list of critical pipelines, as data: `conf/pipelines.yaml`."""

from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any, get_type_hints

import yaml

from lineproof.schemas.errors import LineproofError


class UnusableCatalog(LineproofError):
    """The list of critical pipelines cannot be read."""

    exit_code = 2


@dataclass(frozen=True)
class CriticalPipeline:
    """What a pipeline's owner promises about it."""

    name: str
    service: str
    owner: str
    freshness_minutes: int
    documentation: str


@cache
def catalog() -> tuple[CriticalPipeline, ...]:
    """The critical pipelines, in the order of the list."""
    return parse_catalog(files("lineproof.conf").joinpath("pipelines.yaml").read_text())


def promised(name: str) -> CriticalPipeline:
    """The entry of a pipeline."""
    return next(pipeline for pipeline in catalog() if pipeline.name == name)


def parse_catalog(text: str) -> tuple[CriticalPipeline, ...]:
    """The same from a text, with an error that says which entry is wrong, and how."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _refusal(f"it is not YAML: {error}") from error
    entries = document.get("pipelines") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        raise _refusal("it has no list `pipelines`")
    listed: dict[str, CriticalPipeline] = {}
    for number, entry in enumerate(entries, start=1):
        pipeline = _pipeline(number, entry)
        if pipeline.name in listed:
            raise _refusal(f"{pipeline.name} is listed twice")
        listed[pipeline.name] = pipeline
    return tuple(listed.values())


def _pipeline(number: int, entry: Any) -> CriticalPipeline:
    if not isinstance(entry, dict):
        raise _refusal(f"entry {number} is no mapping")
    kinds = get_type_hints(CriticalPipeline)
    where = f"entry {number} ({entry.get('name', 'without a name')})"
    if unknown := [str(name) for name in entry if name not in kinds]:
        raise _refusal(f"{where} has the unknown member {unknown[0]}")
    for field in fields(CriticalPipeline):
        value = entry.get(field.name)
        if type(value) is not kinds[field.name] or not value or (isinstance(value, int) and value < 0):
            wanted = "a whole number above 0" if kinds[field.name] is int else "a text"
            raise _refusal(f"{where} has no {field.name}, or one that is not {wanted}")
    if not entry["documentation"].startswith("https://"):
        raise _refusal(f"{where} has a documentation that does not begin with https://")
    return CriticalPipeline(**entry)


def _refusal(what: str) -> UnusableCatalog:
    members = ", ".join(field.name for field in fields(CriticalPipeline))
    return UnusableCatalog(
        f"The list of critical pipelines cannot be used: {what}.",
        f"Correct conf/pipelines.yaml; an entry has {members}.",
    )
