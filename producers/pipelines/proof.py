"""The proof of a run: hashes of the data it read and wrote, and the invariants that were checked."""

from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from lineproof.producers.document import to_document
from lineproof.producers.facets import CdmeMorphismJobFacet, CdmeRunManifestRunFacet
from lineproof.producers.pipelines.catalog import catalog_entry
from lineproof.producers.pipelines.data import Dataset, Rows, checksum
from lineproof.producers.run import Run

CONTRACT_VERSION = "1.0"


class Proof:
    """Collects what a run reads and writes; `certify` seals it."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._inputs: dict[str, str] = {}
        self._outputs: dict[str, str] = {}

    def read(self, dataset: Dataset, rows: Sequence[Any]) -> None:
        """Record rows that the run has read."""
        self._inputs[dataset.name.name] = checksum(rows)
        self._run.add_input(dataset.as_input(row_count=len(rows)))

    def wrote(self, dataset: Dataset, rows: Rows, **options: Any) -> None:
        """Record rows that the run has written. Takes the options of `Dataset.as_output`."""
        self._outputs[dataset.name.name] = checksum(rows)
        self._run.add_output(dataset.as_output(rows, **options))

    def certify(self, invariants: Mapping[str, bool], materiality_thresholds: Mapping[str, str] | None = None) -> None:
        """Certify what the run has read and written."""
        manifest = CdmeRunManifestRunFacet(
            configHash=checksum(vars(catalog_entry(self._run.job.name))),
            codeHash=_code_hash(),
            designHash=checksum(to_document(self._run.job.facets[CdmeMorphismJobFacet.KEY].path)),
            inputChecksums=self._inputs,
            outputChecksums=self._outputs,
        )
        self._run.add_facet(manifest.KEY, manifest)
        self._run.certify(
            source_state_hash=checksum(self._inputs),
            target_state_hash=checksum(self._outputs),
            contract_version=CONTRACT_VERSION,
            invariants=invariants,
            materiality_thresholds=materiality_thresholds,
        )


@cache
def _code_hash() -> str:
    """The hash of all pipeline modules. It does not tell which of them a run depends on."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()
