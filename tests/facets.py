"""Examples of every lineproof facet: with required members only, and with all members."""

from typing import Any

from lineproof.producers import facets as ours
from lineproof.schemas.certificates import GENESIS, Certificate

CERTIFICATE = Certificate(
    certificate_id="c-1",
    source_state_hash="aa",
    target_state_hash="bb",
    contract_version="1.2",
    invariants={"rows kept": True, "sums equal": False},
    materiality_thresholds={"amount": "0.01"},
    timestamp="2026-01-31T10:00:00+00:00",
    run_id="01890000-0000-7000-8000-000000000001",
    previous_hash=GENESIS,
).sealed()

MINIMAL: list[Any] = [
    ours.CdmeExecutionRunFacet("2026-01-31", "FULL"),
    ours.CdmeTelemetryRunFacet(10, 9, 12.5),
    ours.CdmeRunManifestRunFacet("c0", "c1", "d0"),
    ours.AccountingLedgerRunFacet(10, 10),
    ours.CdmeTypeUnificationRunFacet([ours.UnifiedAttribute("id", "int", "text", "INCOMPATIBLE")]),
    ours.CdmeGrainSafetyRunFacet("day", "month", safe=True),
    ours.CdmeMorphismTraceRunFacet({"total": ["filter", "sum"]}),
    ours.CdmeFidelityCertificateRunFacet.from_certificate(CERTIFICATE),
    ours.CdmeMorphismJobFacet([ours.MorphismStep("sum", "ALGEBRAIC", "N:1")], lossless=False),
    ours.CdmeGrainDatasetFacet("order", ["order_id"]),
    ours.CdmeAdjointDatasetFacet("orders_adjoint", "s3://lake/adjoint", "LOSSY", "KEYS"),
    ours.CdmeAdjointMetadataDatasetFacet([ours.ReverseJoin("sum", "s3://lake/adjoint", ["order_id"])]),
    ours.ProgressRunFacet(),
    ours.SlaJobFacet(60),
    ours.CostJobFacet(0.5, "EUR"),
    ours.QualityMetricsDatasetFacet(score=1),
    ours.LineageVersionDatasetFacet("7"),
    ours.MetricValueOutputDatasetFacet("sroi", -3.2),
    ours.LlmModelDatasetFacet("small-1", "acme"),
    ours.LlmTokensRunFacet(100, 20),
    ours.LlmCostRunFacet(0.002, "USD"),
    ours.LlmCitationsRunFacet([ours.Citation("feedback")]),
]
STEP = ours.MorphismTelemetry("sum", 10, 1, 0.3, errorRows=0, quality={"nulls": 0.5})
FULL: list[Any] = [
    ours.CdmeExecutionRunFacet("2026-01-31", "SAMPLED", {"rates": "4"}, determinismVerified=True),
    ours.CdmeTelemetryRunFacet(10, 9, 12, errorRows=1, peakMemoryBytes=4096, morphisms=[STEP]),
    ours.CdmeRunManifestRunFacet("c0", "c1", "d0", {"orders": "aa"}, {"totals": "bb"}),
    ours.AccountingLedgerRunFacet(10, 8, 1, 1),
    ours.CdmeTypeUnificationRunFacet([ours.UnifiedAttribute("id", "int", "long", "UNIFIED", "long")]),
    ours.CdmeGrainSafetyRunFacet("day", "month", False, [ours.GrainAggregation("total", "sum")], "average of averages"),
    ours.CdmeMorphismTraceRunFacet({"total": []}, 0.01),
    ours.CdmeFidelityCertificateRunFacet.from_certificate(CERTIFICATE),
    ours.CdmeMorphismJobFacet([ours.MorphismStep("sum", "ALGEBRAIC", "N:1")], False, ["sum"]),
    ours.CdmeGrainDatasetFacet("order", ["order_id", "line"]),
    ours.CdmeAdjointDatasetFacet("orders_adjoint", "s3://lake", "LOSSY", "KEYS", ours.RoundTripBounds(0.9, 1)),
    ours.CdmeAdjointMetadataDatasetFacet([ours.ReverseJoin("sum", "s3://lake", [])], 1, [ours.KeyEnvelope("7", ["1"])]),
    ours.ProgressRunFacet(12.5, 1000),
    ours.SlaJobFacet(0.5, 0.999, "gold", 30),
    ours.CostJobFacet(0, "EUR", "month"),
    ours.QualityMetricsDatasetFacet(0, 0.5, 1, 1, 0.7),
    ours.LineageVersionDatasetFacet("7", "6"),
    ours.MetricValueOutputDatasetFacet("sroi", 3, "ratio", "2026-Q1", {"company": "acme"}),
    ours.LlmModelDatasetFacet("small-1", "acme", 0, 500),
    ours.LlmTokensRunFacet(0, 0),
    ours.LlmCostRunFacet(0, "USD", "small-1"),
    ours.LlmCitationsRunFacet([ours.Citation("feedback", "s-1", 0.25)]),
]
