"""Facets of lineproof's own."""

from typing import ClassVar

import attr
from openlineage.client.generated.base import RunFacet


@attr.define
class AccountingLedgerRunFacet(RunFacet):
    """What became of every input record: processed, filtered or errored. Key `cdme_accountingLedger`."""

    KEY: ClassVar[str] = "cdme_accountingLedger"

    inputRecordCount: int  # noqa: N815
    processedCount: int  # noqa: N815
    filteredCount: int = attr.field(default=0)  # noqa: N815
    erroredCount: int = attr.field(default=0)  # noqa: N815
    balanced: bool = attr.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.balanced = self.inputRecordCount == self.processedCount + self.filteredCount + self.erroredCount

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:CdmeAccountingLedgerRunFacet"
