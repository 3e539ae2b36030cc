"""Lists the facets of an event."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.foreign_events.integration import Document


@dataclass(frozen=True)
class LocatedFacet:
    """A facet: its entity, its key, its content, and its JSON path."""

    entity: str
    key: str
    facet: Document
    path: str


def located_facets(document: Document) -> Iterator[LocatedFacet]:
    """All facets of an event."""
    for entity in ("run", "job", "dataset"):
        yield from _group(entity, f"$.{entity}.facets", document.get(entity, {}).get("facets", {}))
    for entity in ("input", "output"):
        for number, dataset in enumerate(document.get(f"{entity}s", [])):
            path = f"$.{entity}s[{number}]"
            yield from _group("dataset", f"{path}.facets", dataset.get("facets", {}))
            yield from _group(entity, f"{path}.{entity}Facets", dataset.get(f"{entity}Facets", {}))


def _group(entity: str, path: str, facets: Document) -> Iterator[LocatedFacet]:
    for key, facet in facets.items():
        yield LocatedFacet(entity, key, facet, f'{path}."{key}"')
