"""CDME: what a run can show for its result."""

from typing import ClassVar

import attr
from openlineage.client.generated.base import RunFacet

from lineproof.schemas.certificates import Certificate


@attr.define
class UnifiedAttribute:
    """Two types that met; `unified` is what both became, unless the verdict is INCOMPATIBLE."""

    attribute: str
    left: str
    right: str
    verdict: str
    unified: str | None = None


@attr.define
class CdmeTypeUnificationRunFacet(RunFacet):
    """How the types of attributes that met were brought together."""

    KEY: ClassVar[str] = "cdme_typeUnification"

    attributes: list[UnifiedAttribute]

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeTypeUnificationRunFacet"


@attr.define
class GrainAggregation:
    """How one attribute gets from the finer grain to the coarser."""

    attribute: str
    function: str


@attr.define
class CdmeGrainSafetyRunFacet(RunFacet):
    """Whether a change of grain was safe; `reason` says why it was not."""

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
    """Through which morphisms, in their order, each target attribute was made; all records unless `sampleRate` is."""

    KEY: ClassVar[str] = "cdme_morphismTrace"

    paths: dict[str, list[str]]
    sampleRate: float | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeMorphismTraceRunFacet"


@attr.define
class CdmeFidelityCertificateRunFacet(RunFacet):
    """A sealed certificate. Its values are the texts that were hashed, so that the hash can be computed again."""

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
        """The facet that carries a certificate."""
        members = {_camel_case(name): value for name, value in certificate.to_dict().items()}
        return cls(**members)

    def to_certificate(self) -> Certificate:
        """The certificate this facet carries."""
        return Certificate(**{name: getattr(self, _camel_case(name)) for name in Certificate.__dataclass_fields__})

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeFidelityCertificateRunFacet"


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
