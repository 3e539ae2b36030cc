"""A dataset of the platform: defined once, used by every pipeline that reads or writes it."""

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
    type="DIRECT", subtype="TRANSFORMATION", description="SHA-256, to remove the address", masking=True
)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset: its name, its columns (type and description), and what one row represents."""

    name: DatasetName
    schema: Mapping[str, Any]
    grain: str
    keys: tuple[str, ...]
    owner: str
    source_uri: str | None = None
    version: str = "1"
    """Version of the logic that produces it; increased when that logic changes."""

    def as_input(self, facets: Mapping[str, Any] | None = None, row_count: int | None = None) -> ol.InputDataset:
        """The dataset as an input of a run, with the number of rows if they have been read."""
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
        """The dataset as an output of a run that wrote these rows, with their quality metrics."""
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
        """A column of this dataset, as the source of another dataset's column."""
        return Column(self.name, field, how)

    def unchanged(self, *fields: str) -> dict[str, list[Column]]:
        """Column lineage of columns that another dataset copies under the same names."""
        return {field: [self.column(field)] for field in fields}

    @property
    def directory(self) -> Path:
        """The directory of a dataset of files."""
        return Path(self.name.name)

    def _facets(self) -> dict[str, Any]:
        grain = CdmeGrainDatasetFacet(name=self.grain, keys=list(self.keys))
        owner = ownership_dataset.Owner(name=self.owner, type="OWNER")
        return {grain.KEY: grain, "ownership": ownership_dataset.OwnershipDatasetFacet(owners=[owner])}


def canonical(value: Any) -> bytes:
    """A value as canonical JSON."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def checksum(value: Any) -> str:
    """The SHA-256 of a value as canonical JSON."""
    return sha256(canonical(value)).hexdigest()


def _completeness(rows: Rows) -> float:
    cells = [value for row in rows for value in row.values()]
    return sum(value is not None for value in cells) / len(cells) if cells else 1.0


def _uniqueness(rows: Rows, keys: Sequence[str]) -> float:
    return len({tuple(row[key] for key in keys) for row in rows}) / len(rows) if rows else 1.0
