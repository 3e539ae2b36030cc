"""A dataset of the platform as its lineage shows it: said once here, used by every pipeline that reads or writes it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import column_lineage_dataset, ownership_dataset

from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.datasets import Column, ColumnLineage, input_dataset, output_dataset
from lineproof.producers.facets import CdmeGrainDatasetFacet, LineageVersionDatasetFacet, QualityMetricsDatasetFacet

Row = Mapping[str, Any]
Rows = Sequence[Row]

PSEUDONYM = column_lineage_dataset.Transformation(
    type="DIRECT", subtype="TRANSFORMATION", description="SHA-256, so that nobody can be written to", masking=True
)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset: where it is, its columns (type and description), and what one row of it stands for."""

    name: DatasetName
    schema: Mapping[str, Any]
    grain: str
    keys: tuple[str, ...]
    owner: str
    source_uri: str | None = None
    version: str = "1"
    """Of the way it is made; raised when a pipeline begins to make it otherwise."""

    def as_input(self, facets: Mapping[str, Any] | None = None, row_count: int | None = None) -> ol.InputDataset:
        """The dataset as a run declares it at its start, or once it has read so many rows of it."""
        own = {**self._facets(), **(facets or {})}
        return input_dataset(self.name, schema=self.schema, source_uri=self.source_uri, row_count=row_count, facets=own)

    def as_output(
        self,
        rows: Rows,
        *,
        columns: ColumnLineage | None = None,
        size: int | None = None,
        files: int | None = None,
        facets: Mapping[str, Any] | None = None,
        output_facets: Mapping[str, Any] | None = None,
    ) -> ol.OutputDataset:
        """The dataset as a run that wrote these rows declares it, with what their quality was seen to be."""
        quality = QualityMetricsDatasetFacet(completeness=_completeness(rows), uniqueness=_uniqueness(rows, self.keys))
        version = LineageVersionDatasetFacet(version=self.version)
        return output_dataset(
            self.name,
            schema=self.schema,
            row_count=len(rows),
            size=len(canonical(rows)) if size is None else size,
            file_count=files,
            column_lineage=columns,
            facets={**self._facets(), quality.KEY: quality, version.KEY: version, **(facets or {})},
            output_facets=output_facets,
        )

    def column(self, field: str, how: str | column_lineage_dataset.Transformation | None = None) -> Column:
        """A column of it, as the source of another dataset's column."""
        return Column(self.name, field, how)

    def kept(self, *fields: str) -> dict[str, list[Column]]:
        """Columns that another dataset has under the same names, unchanged."""
        return {field: [self.column(field)] for field in fields}

    @property
    def directory(self) -> Path:
        """Where its files are, if it is one of files."""
        return Path(self.name.name)

    def _facets(self) -> dict[str, Any]:
        grain = CdmeGrainDatasetFacet(name=self.grain, keys=list(self.keys))
        owner = ownership_dataset.Owner(name=self.owner, type="OWNER")
        return {grain.KEY: grain, "ownership": ownership_dataset.OwnershipDatasetFacet(owners=[owner])}


def canonical(value: Any) -> bytes:
    """A value as the same bytes every time."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def checksum(value: Any) -> str:
    """The SHA-256 of a value, rows for one."""
    return sha256(canonical(value)).hexdigest()


def _completeness(rows: Rows) -> float:
    cells = [value for row in rows for value in row.values()]
    return sum(value is not None for value in cells) / len(cells) if cells else 1.0


def _uniqueness(rows: Rows, keys: Sequence[str]) -> float:
    return len({tuple(row[key] for key in keys) for row in rows}) / len(rows) if rows else 1.0
