"""Certificates made for tests."""

from dataclasses import replace
from typing import Any

from lineproof.producers.document import to_document
from lineproof.producers.facets import CdmeFidelityCertificateRunFacet
from lineproof.schemas.certificates import GENESIS, Certificate


def draft(number: int) -> Certificate:
    """One that is not sealed yet."""
    return Certificate(
        certificate_id=f"certificate-{number}",
        source_state_hash=f"source-{number}",
        target_state_hash=f"target-{number}",
        contract_version="1.0",
        invariants={"rows add up": True, "keys are unique": number % 7 != 0},
        materiality_thresholds={"rows": "0.001"},
        timestamp="2026-01-31T10:00:00Z",
        run_id=f"run-{number}",
        previous_hash="",
    )


def chain_of(length: int) -> list[Certificate]:
    """A chain that holds, a second between two links."""
    links: list[Certificate] = []
    for number in range(length):
        previous = links[-1].chain_hash if links else GENESIS
        link = replace(draft(number), timestamp=f"2026-01-31T10:00:{number:02}Z", previous_hash=previous)
        links.append(link.sealed())
    return links


def facet_of(certificate: Certificate) -> dict[str, Any]:
    """As an event carries it."""
    return dict(to_document(CdmeFidelityCertificateRunFacet.from_certificate(certificate)))


def of_facet(facet: dict[str, Any]) -> Certificate:
    """What a facet says, whatever it says."""
    return Certificate(**{name: facet[_camel_case(name)] for name in Certificate.__dataclass_fields__})


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
