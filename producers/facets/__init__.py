"""Typed classes of lineproof's facets. Use them like the facet classes of `openlineage-python`.

Their rules are the JSON Schemas in `schemas/facet_schemas`.
"""

from lineproof.producers.facets.cdme_design import (
    CdmeAdjointDatasetFacet,
    CdmeAdjointMetadataDatasetFacet,
    CdmeGrainDatasetFacet,
    CdmeMorphismJobFacet,
    KeyEnvelope,
    MorphismStep,
    ReverseJoin,
    RoundTripBounds,
)
from lineproof.producers.facets.cdme_proof import (
    CdmeFidelityCertificateRunFacet,
    CdmeGrainSafetyRunFacet,
    CdmeMorphismTraceRunFacet,
    CdmeTypeUnificationRunFacet,
    GrainAggregation,
    UnifiedAttribute,
)
from lineproof.producers.facets.cdme_run import (
    AccountingLedgerRunFacet,
    CdmeExecutionRunFacet,
    CdmeRunManifestRunFacet,
    CdmeTelemetryRunFacet,
    MorphismTelemetry,
)
from lineproof.producers.facets.data import (
    LineageVersionDatasetFacet,
    MetricValueOutputDatasetFacet,
    QualityMetricsDatasetFacet,
)
from lineproof.producers.facets.llm import (
    Citation,
    LlmCitationsRunFacet,
    LlmCostRunFacet,
    LlmModelDatasetFacet,
    LlmTokensRunFacet,
)
from lineproof.producers.facets.service import (
    CostJobFacet,
    ProcessingType,
    ProgressRunFacet,
    SlaJobFacet,
    job_type,
)

__all__ = [
    "AccountingLedgerRunFacet",
    "CdmeAdjointDatasetFacet",
    "CdmeAdjointMetadataDatasetFacet",
    "CdmeExecutionRunFacet",
    "CdmeFidelityCertificateRunFacet",
    "CdmeGrainDatasetFacet",
    "CdmeGrainSafetyRunFacet",
    "CdmeMorphismJobFacet",
    "CdmeMorphismTraceRunFacet",
    "CdmeRunManifestRunFacet",
    "CdmeTelemetryRunFacet",
    "CdmeTypeUnificationRunFacet",
    "Citation",
    "CostJobFacet",
    "GrainAggregation",
    "KeyEnvelope",
    "LineageVersionDatasetFacet",
    "LlmCitationsRunFacet",
    "LlmCostRunFacet",
    "LlmModelDatasetFacet",
    "LlmTokensRunFacet",
    "MetricValueOutputDatasetFacet",
    "MorphismStep",
    "MorphismTelemetry",
    "ProcessingType",
    "ProgressRunFacet",
    "QualityMetricsDatasetFacet",
    "ReverseJoin",
    "RoundTripBounds",
    "SlaJobFacet",
    "UnifiedAttribute",
    "job_type",
]
