"""CDME: how a job is composed, and how its datasets lead back to their sources."""

from typing import ClassVar

import attr
from openlineage.client.generated.base import DatasetFacet, JobFacet


@attr.define
class MorphismStep:
    """One morphism; its cardinality is 1:1, 1:N, N:1 or N:N."""

    name: str
    type: str
    cardinality: str


@attr.define
class CdmeMorphismJobFacet(JobFacet):
    """The morphisms a job is composed of; `checkpoints` names those after which results are kept."""

    KEY: ClassVar[str] = "cdme_morphism"

    path: list[MorphismStep]
    lossless: bool
    checkpoints: list[str] | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeMorphismJobFacet"


@attr.define
class CdmeGrainDatasetFacet(DatasetFacet):
    """What one row of a dataset stands for; `keys` are the columns that tell rows apart."""

    KEY: ClassVar[str] = "cdme_grain"

    name: str
    keys: list[str]

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeGrainDatasetFacet"


@attr.define
class RoundTripBounds:
    """Between which bounds a value comes back."""

    lower: float
    upper: float


@attr.define
class CdmeAdjointDatasetFacet(DatasetFacet):
    """Where the way back from a dataset to its sources is kept, of what kind it is, and how it is kept."""

    KEY: ClassVar[str] = "cdme_adjoint"

    table: str
    location: str
    classification: str
    storageStrategy: str
    roundTripBounds: RoundTripBounds | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeAdjointDatasetFacet"


@attr.define
class ReverseJoin:
    """Where, and on which columns, a dataset can be joined back to what a morphism read."""

    morphism: str
    location: str
    keyColumns: list[str]


@attr.define
class KeyEnvelope:
    """The input keys that one output key was made of."""

    outputKey: str
    inputKeys: list[str]


@attr.define
class CdmeAdjointMetadataDatasetFacet(DatasetFacet):
    """How to join a dataset back to its sources, with the keys of all rows or of a sample."""

    KEY: ClassVar[str] = "cdme_adjointMetadata"

    reverseJoins: list[ReverseJoin]
    keyCount: int | None = None
    keyEnvelopes: list[KeyEnvelope] | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeAdjointMetadataDatasetFacet"
