"""How much lineage detail the events of a run carry: everything, what keys can be derived from, or a sample.

| mode | path of each attribute | reverse joins | key envelopes |
|---|---|---|---|
| FULL | yes | yes | all, up to `MAX_KEY_ENVELOPES` |
| KEY_DERIVABLE | yes | yes, with the columns that keys can be derived from | none |
| SAMPLED | yes | yes | 1 in `SAMPLE_EVERY`, chosen by a hash of the key: the same in every run |
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any
from zlib import crc32

import attr
from openlineage.client import event_v2 as ol

from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.facets import (
    CdmeAdjointMetadataDatasetFacet,
    CdmeExecutionRunFacet,
    CdmeMorphismTraceRunFacet,
    KeyEnvelope,
    ReverseJoin,
)

SAMPLE_EVERY = 100
MAX_KEY_ENVELOPES = 10_000


class LineageMode(str, Enum):
    """The lineage mode of a job."""

    FULL = "FULL"
    KEY_DERIVABLE = "KEY_DERIVABLE"
    SAMPLED = "SAMPLED"

    def keeps_key(self, key: str) -> bool:
        """Whether events carry the envelope of this output key."""
        if self is LineageMode.SAMPLED:
            return crc32(key.encode()) % SAMPLE_EVERY == 0
        return self is LineageMode.FULL


class LineageRecord:
    """Collects how the outputs of one run were produced, in the detail of its mode."""

    def __init__(self, mode: LineageMode) -> None:
        self.mode = mode
        self._paths: dict[str, list[str]] = {}
        self._reverse_joins: dict[DatasetName, list[ReverseJoin]] = {}
        self._keys: dict[DatasetName, list[KeyEnvelope]] = {}
        self._key_counts: dict[DatasetName, int] = {}
        self._execution: CdmeExecutionRunFacet | None = None

    def execution(
        self, epoch: str, lookup_versions: Mapping[str, str] | None = None, determinism_verified: bool | None = None
    ) -> None:
        """Record the conditions of the execution. The mode is added."""
        self._execution = CdmeExecutionRunFacet(
            epoch=epoch,
            lineageMode=self.mode.value,
            lookupVersions=dict(lookup_versions or {}),
            determinismVerified=determinism_verified,
        )

    def path(self, attribute: str, *morphisms: str) -> None:
        """Record the steps that produced an output attribute, in order."""
        self._paths[attribute] = list(morphisms)

    def reverse_join(self, output: DatasetName, morphism: str, location: str, key_columns: Sequence[str]) -> None:
        """Record where, and on which columns, the output can be joined back to the input of a step."""
        joins = self._reverse_joins.setdefault(output, [])
        joins.append(ReverseJoin(morphism=morphism, location=location, keyColumns=list(key_columns)))

    def keys(self, output: DatasetName, output_key: str, input_keys: Sequence[str]) -> None:
        """Record which input rows one output row was made from."""
        self._key_counts[output] = self._key_counts.get(output, 0) + 1
        if self.mode.keeps_key(output_key):
            envelopes = self._keys.setdefault(output, [])
            if len(envelopes) < MAX_KEY_ENVELOPES:
                envelopes.append(KeyEnvelope(outputKey=output_key, inputKeys=list(input_keys)))

    def run_facets(self) -> dict[str, Any]:
        """The run facets of the end event."""
        rate = 1 / SAMPLE_EVERY if self.mode is LineageMode.SAMPLED else None
        trace = CdmeMorphismTraceRunFacet(paths=self._paths, sampleRate=rate) if self._paths else None
        return {facet.KEY: facet for facet in (self._execution, trace) if facet is not None}

    def with_adjoint_facets(self, outputs: Sequence[ol.OutputDataset]) -> list[ol.OutputDataset]:
        """The outputs, each with its reverse joins and keys as a facet."""
        return [self._with_adjoint(output) for output in outputs]

    def _with_adjoint(self, output: ol.OutputDataset) -> ol.OutputDataset:
        name = DatasetName(output.namespace, output.name)
        joins, key_count = self._reverse_joins.get(name), self._key_counts.get(name)
        if not joins and not key_count:
            return output
        facet = CdmeAdjointMetadataDatasetFacet(
            reverseJoins=joins or [], keyCount=key_count, keyEnvelopes=self._keys.get(name)
        )
        return attr.evolve(output, facets={**(output.facets or {}), facet.KEY: facet})
