"""The catalog of critical pipelines: `conf/pipelines.yaml`."""

from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any, get_type_hints

import yaml

from lineproof.schemas.errors import LineproofError


class UnusableCatalog(LineproofError):
    """The catalog of critical pipelines is not valid."""

    exit_code = 2


@dataclass(frozen=True)
class CriticalPipeline:
    """A catalog entry: owner, freshness and documentation of a pipeline."""

    name: str
    service: str
    owner: str
    freshness_minutes: int
    documentation: str


@cache
def catalog() -> tuple[CriticalPipeline, ...]:
    """The critical pipelines, in the order of the file."""
    return parse_catalog(files("lineproof.conf").joinpath("pipelines.yaml").read_text())


def catalog_entry(name: str) -> CriticalPipeline:
    """The catalog entry of a pipeline."""
    return next(pipeline for pipeline in catalog() if pipeline.name == name)


def parse_catalog(text: str) -> tuple[CriticalPipeline, ...]:
    """Parse a catalog. Raises UnusableCatalog with the invalid entry."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _invalid(f"it is not YAML: {error}") from error
    entries = document.get("pipelines") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        raise _invalid("it has no list `pipelines`")
    entries_by_name: dict[str, CriticalPipeline] = {}
    for number, entry in enumerate(entries, start=1):
        pipeline = _pipeline(number, entry)
        if pipeline.name in entries_by_name:
            raise _invalid(f"{pipeline.name} is listed twice")
        entries_by_name[pipeline.name] = pipeline
    return tuple(entries_by_name.values())


def _pipeline(number: int, entry: Any) -> CriticalPipeline:
    if not isinstance(entry, dict):
        raise _invalid(f"entry {number} is not a mapping")
    kinds = get_type_hints(CriticalPipeline)
    where = f"entry {number} ({entry.get('name', 'without a name')})"
    if unknown := [str(name) for name in entry if name not in kinds]:
        raise _invalid(f"{where} has the unknown field {unknown[0]}")
    for field in fields(CriticalPipeline):
        value = entry.get(field.name)
        if type(value) is not kinds[field.name] or not value or (isinstance(value, int) and value < 0):
            wanted = "a whole number above 0" if kinds[field.name] is int else "a text"
            raise _invalid(f"{where} has no {field.name}, or it is not {wanted}")
    if not entry["documentation"].startswith("https://"):
        raise _invalid(f"{where} has a documentation link that does not begin with https://")
    return CriticalPipeline(**entry)


def _invalid(problem: str) -> UnusableCatalog:
    field_names = ", ".join(field.name for field in fields(CriticalPipeline))
    return UnusableCatalog(
        f"The catalog of critical pipelines is not valid: {problem}.",
        f"Correct conf/pipelines.yaml. The fields of an entry are {field_names}.",
    )
