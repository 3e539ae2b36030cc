"""Facets of jobs: type, SLA and cost, and the progress of a run. Use OpenLineage's `ownership` for the owner."""

from enum import Enum
from typing import ClassVar

import attr
from openlineage.client.facet_v2 import job_type_job
from openlineage.client.generated.base import JobFacet, RunFacet

INTEGRATION = "LINEPROOF"


class ProcessingType(str, Enum):
    """How a job runs. Only runs of a BATCH job end without being stopped."""

    BATCH = "BATCH"
    STREAMING = "STREAMING"
    SERVICE = "SERVICE"


def job_type(processing: ProcessingType = ProcessingType.BATCH, kind: str = "PIPELINE") -> job_type_job.JobTypeJobFacet:
    """The OpenLineage `jobType` facet of a job that emits with lineproof."""
    return job_type_job.JobTypeJobFacet(processingType=processing.value, integration=INTEGRATION, jobType=kind)


@attr.define
class SlaJobFacet(JobFacet):
    """The SLA of a job: maximum age of its result, maximum duration of a run, share of runs that succeed."""

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
    """The cost of a job, in an ISO 4217 currency. `basis` is what the cost is for: a run, a month."""

    KEY: ClassVar[str] = "lineproof_cost"

    amount: float
    currency: str
    basis: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofCostJobFacet"


@attr.define
class ProgressRunFacet(RunFacet):
    """The progress of a run, as far as it is known."""

    KEY: ClassVar[str] = "lineproof_progress"

    percentComplete: float | None = None
    recordsProcessed: int | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofProgressRunFacet"
