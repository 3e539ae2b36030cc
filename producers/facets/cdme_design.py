"""CDME facets of jobs and datasets: the steps of a job, and how its datasets can be traced to their sources."""

from typing import ClassVar

import attr
from openlineage.client.generated.base import DatasetFacet, JobFacet


@attr.define
class MorphismStep:
    """A morphism (step) of a job. Its cardinality is 1:1, 1:N, N:1 or N:N."""

    name: str
    type: str
    cardinality: str


@attr.define
class CdmeMorphismJobFacet(JobFacet):
    """The morphisms of a job. `checkpoints` are those whose results are stored."""

    KEY: ClassVar[str] = "cdme_morphism"

    path: list[MorphismStep]
    lossless: bool
    checkpoints: list[str] | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeMorphismJobFacet"


@attr.define
class CdmeGrainDatasetFacet(DatasetFacet):
    """What one row of a dataset represents. `keys` are the columns that identify a row."""

    KEY: ClassVar[str] = "cdme_grain"

    name: str
    keys: list[str]

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeGrainDatasetFacet"


@attr.define
class RoundTripBounds:
    """The bounds of a value after a round trip to the sources and back."""

    lower: float
    upper: float


@attr.define
class CdmeAdjointDatasetFacet(DatasetFacet):
    """The table that leads from a dataset back to its sources: where it is, its kind, and how it is stored."""

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
    """Where, and on which columns, a dataset can be joined back to the input of a morphism."""

    morphism: str
    location: str
    keyColumns: list[str]


@attr.define
class KeyEnvelope:
    """The input keys of one output key."""

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
