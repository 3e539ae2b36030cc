"""CDME facets that prove the result of a run: types, grain, trace and certificate."""

from typing import ClassVar

import attr
from openlineage.client.generated.base import RunFacet

from lineproof.schemas.certificates import Certificate


@attr.define
class UnifiedAttribute:
    """Two types of one attribute. `unified` is their common type, unless the verdict is INCOMPATIBLE."""

    attribute: str
    left: str
    right: str
    verdict: str
    unified: str | None = None


@attr.define
class CdmeTypeUnificationRunFacet(RunFacet):
    """How different types of the same attributes were unified."""

    KEY: ClassVar[str] = "cdme_typeUnification"

    attributes: list[UnifiedAttribute]

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeTypeUnificationRunFacet"


@attr.define
class GrainAggregation:
    """The function that aggregates one attribute to the coarser grain."""

    attribute: str
    function: str


@attr.define
class CdmeGrainSafetyRunFacet(RunFacet):
    """Whether a change of grain was safe. `reason` says why it was not."""

    KEY: ClassVar[str] = "cdme_grainSafety"

    fromGrain: str
    toGrain: str
    safe: bool
    aggregations: list[GrainAggregation] | None = None
    reason: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeGrainSafetyRunFacet"


@attr.define
class CdmeMorphismTraceRunFacet(RunFacet):
    """The morphisms that produced each target attribute, in order. Covers all records unless `sampleRate` is set."""

    KEY: ClassVar[str] = "cdme_morphismTrace"

    paths: dict[str, list[str]]
    sampleRate: float | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeMorphismTraceRunFacet"


@attr.define
class CdmeFidelityCertificateRunFacet(RunFacet):
    """A sealed certificate. Its values are the texts that were hashed, so that readers can recompute the hash."""

    KEY: ClassVar[str] = "cdme_fidelityCertificate"

    certificateId: str
    algorithm: str
    sourceStateHash: str
    targetStateHash: str
    contractVersion: str
    invariants: dict[str, bool]
    materialityThresholds: dict[str, str]
    timestamp: str
    runId: str
    previousHash: str
    chainHash: str

    @classmethod
    def from_certificate(cls, certificate: Certificate) -> "CdmeFidelityCertificateRunFacet":
        """Build the facet from a certificate."""
        members = {_camel_case(name): value for name, value in certificate.to_dict().items()}
        return cls(**members)

    def to_certificate(self) -> Certificate:
        """The certificate in this facet."""
        return Certificate(**{name: getattr(self, _camel_case(name)) for name in Certificate.__dataclass_fields__})

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeFidelityCertificateRunFacet"


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
