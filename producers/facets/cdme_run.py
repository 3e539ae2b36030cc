"""CDME facets of a run: execution, telemetry, manifest and accounting ledger."""

from typing import ClassVar

import attr
from openlineage.client.generated.base import RunFacet


@attr.define
class CdmeExecutionRunFacet(RunFacet):
    """The conditions of a run's execution. `epoch` is the slice of data that it processed."""

    KEY: ClassVar[str] = "cdme_execution"

    epoch: str
    lineageMode: str
    lookupVersions: dict[str, str] | None = None
    determinismVerified: bool | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeExecutionRunFacet"


@attr.define
class MorphismTelemetry:
    """Measurements of one step, with quality metrics by name."""

    name: str
    inputRows: int
    outputRows: int
    durationMs: float
    errorRows: int = 0
    quality: dict[str, float] | None = None


@attr.define
class CdmeTelemetryRunFacet(RunFacet):
    """Measurements of a run and its steps."""

    KEY: ClassVar[str] = "cdme_telemetry"

    inputRows: int
    outputRows: int
    durationMs: float
    errorRows: int = 0
    peakMemoryBytes: int | None = None
    morphisms: list[MorphismTelemetry] | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeTelemetryRunFacet"


@attr.define
class CdmeRunManifestRunFacet(RunFacet):
    """Hashes of everything that determines a run's result. Checksums are by dataset name."""

    KEY: ClassVar[str] = "cdme_runManifest"

    configHash: str
    codeHash: str
    designHash: str
    inputChecksums: dict[str, str] | None = None
    outputChecksums: dict[str, str] | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeRunManifestRunFacet"


@attr.define
class AccountingLedgerRunFacet(RunFacet):
    """The accounting ledger: every input record is processed, filtered or errored."""

    KEY: ClassVar[str] = "cdme_accountingLedger"

    inputRecordCount: int
    processedCount: int
    filteredCount: int = 0
    erroredCount: int = 0
    balanced: bool = attr.field(init=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self.balanced = self.inputRecordCount == self.processedCount + self.filteredCount + self.erroredCount

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeAccountingLedgerRunFacet"
