"""CDME: how a run was executed, what it cost, and what became of its records."""

from typing import ClassVar

import attr
from openlineage.client.generated.base import RunFacet


@attr.define
class CdmeExecutionRunFacet(RunFacet):
    """Under which conditions a run was executed; `epoch` is the slice of data it was for."""

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
    """What one step cost, with quality figures by their names."""

    name: str
    inputRows: int
    outputRows: int
    durationMs: float
    errorRows: int = 0
    quality: dict[str, float] | None = None


@attr.define
class CdmeTelemetryRunFacet(RunFacet):
    """What a run and each of its steps cost."""

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
    """All that decides a run's result, as hashes; checksums are by the dataset's name."""

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
    """What became of every input record: processed, filtered or errored."""

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
