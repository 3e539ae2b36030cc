"""Facets of datasets: quality metrics, lineage version and metric values."""

from typing import ClassVar

import attr
from openlineage.client.generated.base import DatasetFacet, OutputDatasetFacet


@attr.define
class QualityMetricsDatasetFacet(DatasetFacet):
    """Quality metrics of a dataset from 0 (bad) to 1 (good). At least one is set."""

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
    """The version of the logic that produces a dataset."""

    KEY: ClassVar[str] = "lineproof_lineageVersion"

    version: str
    previousVersion: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofLineageVersionDatasetFacet"


@attr.define
class MetricValueOutputDatasetFacet(OutputDatasetFacet):
    """A metric value that a run wrote. `dimensions` is its breakdown."""

    KEY: ClassVar[str] = "lineproof_metricValue"

    metric: str
    value: float
    unit: str | None = None
    period: str | None = None
    dimensions: dict[str, str] | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofMetricValueOutputDatasetFacet"
