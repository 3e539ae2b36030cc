"""What a job is, promises and costs, and how far its run is. Its owner is OpenLineage's own `ownership` facet."""

from enum import Enum
from typing import ClassVar

import attr
from openlineage.client.facet_v2 import job_type_job
from openlineage.client.generated.base import JobFacet, RunFacet

INTEGRATION = "LINEPROOF"


class ProcessingType(str, Enum):
    """Whether runs of a job end by themselves: only those of a BATCH job do."""

    BATCH = "BATCH"
    STREAMING = "STREAMING"
    SERVICE = "SERVICE"


def job_type(processing: ProcessingType = ProcessingType.BATCH, kind: str = "PIPELINE") -> job_type_job.JobTypeJobFacet:
    """OpenLineage's `jobType` facet for a job that lineproof emits for."""
    return job_type_job.JobTypeJobFacet(processingType=processing.value, integration=INTEGRATION, jobType=kind)


@attr.define
class SlaJobFacet(JobFacet):
    """What a job promises: how old its result may be, how long a run may take, which share of its runs succeeds."""

    KEY: ClassVar[str] = "lineproof_sla"

    freshnessMinutes: float
    availability: float | None = None
    tier: str | None = None
    maxDurationMinutes: float | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofSlaJobFacet"


@attr.define
class CostJobFacet(JobFacet):
    """What a job costs, in a currency of ISO 4217; `basis` says for what: a run, a month."""

    KEY: ClassVar[str] = "lineproof_cost"

    amount: float
    currency: str
    basis: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofCostJobFacet"


@attr.define
class ProgressRunFacet(RunFacet):
    """How far a run is, as far as it is known."""

    KEY: ClassVar[str] = "lineproof_progress"

    percentComplete: float | None = None
    recordsProcessed: int | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofProgressRunFacet"
