"""How good a dataset is, which version of its lineage made it, and the metric values in it."""

from typing import ClassVar

import attr
from openlineage.client.generated.base import DatasetFacet, OutputDatasetFacet


@attr.define
class QualityMetricsDatasetFacet(DatasetFacet):
    """How good a dataset is: shares from 0 (bad) to 1 (good), at least one of them."""

    KEY: ClassVar[str] = "lineproof_qualityMetrics"

    completeness: float | None = None
    uniqueness: float | None = None
    validity: float | None = None
    timeliness: float | None = None
    score: float | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofQualityMetricsDatasetFacet"


@attr.define
class LineageVersionDatasetFacet(DatasetFacet):
    """The version of the way a dataset is made."""

    KEY: ClassVar[str] = "lineproof_lineageVersion"

    version: str
    previousVersion: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofLineageVersionDatasetFacet"


@attr.define
class MetricValueOutputDatasetFacet(OutputDatasetFacet):
    """The value of a metric that a run wrote; `dimensions` is what it is broken down by."""

    KEY: ClassVar[str] = "lineproof_metricValue"

    metric: str
    value: float
    unit: str | None = None
    period: str | None = None
    dimensions: dict[str, str] | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofMetricValueOutputDatasetFacet"
