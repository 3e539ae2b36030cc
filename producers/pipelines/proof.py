"""What a run can show for itself: the states it went from and to, as hashes, and what was checked."""

from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from lineproof.producers.document import document_of
from lineproof.producers.facets import CdmeMorphismJobFacet, CdmeRunManifestRunFacet
from lineproof.producers.pipelines.catalog import promised
from lineproof.producers.pipelines.data import Dataset, Rows, checksum
from lineproof.producers.run import Run

CONTRACT_VERSION = "1.0"


class Proof:
    """Collected while a run reads and writes; sealed by `certify`."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._inputs: dict[str, str] = {}
        self._outputs: dict[str, str] = {}

    def read(self, dataset: Dataset, rows: Sequence[Any]) -> None:
        """The run has read these rows."""
        self._inputs[dataset.name.name] = checksum(rows)
        self._run.add_input(dataset.as_input(row_count=len(rows)))

    def wrote(self, dataset: Dataset, rows: Rows, **described: Any) -> None:
        """The run has written these rows: they are an output, described by options of `Dataset.as_output`."""
        self._outputs[dataset.name.name] = checksum(rows)
        self._run.add_output(dataset.as_output(rows, **described))

    def certify(self, invariants: Mapping[str, bool], materiality_thresholds: Mapping[str, str] | None = None) -> None:
        """Vouch for what the run has read and written."""
        manifest = CdmeRunManifestRunFacet(
            configHash=checksum(vars(promised(self._run.job.name))),
            codeHash=_code_hash(),
            designHash=checksum(document_of(self._run.job.facets[CdmeMorphismJobFacet.KEY].path)),
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
    """Of all pipelines: which of the modules decide a run's result is not worth telling apart."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()
