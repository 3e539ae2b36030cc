"""Input and output datasets with schema, source, statistics and column lineage."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    datasource_dataset,
    input_statistics_input_dataset,
    output_statistics_output_dataset,
    schema_dataset,
)

from lineproof.producers.dataschema import schema_fields
from lineproof.producers.dataset_names import DatasetName

# The only @ in a URI is the one after user and password. With a second @, the end of the password is unknown.
_URI = re.compile(
    r"""
    (?P<scheme> (?:[a-z][a-z0-9+.-]*:)+ )
    (?: // (?P<user> [^@/?#;\s]*@ )? (?P<place> [\w.~%!$&'()*+,=-]* (?: :\d+ )? (?: /[\w.~%!$&'()*+,=:/-]* )? )
      | (?!//) (?P<opaque> [\w.~%!$&'()*+,=:/-]+ )
    )
    (?: [?#;][^@]* )?
    """,
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_AZURE_SCHEMES = ("abfs:", "abfss:", "wasb:", "wasbs:")


class Column(NamedTuple):
    """A source column of an output column. `transformation` is a text, or an OpenLineage object."""

    dataset: DatasetName
    field: str
    transformation: str | column_lineage_dataset.Transformation | None = None


ColumnLineage = Mapping[str, Sequence[Column | tuple[DatasetName, str]]]
"""Maps each output column to its source columns."""


def input_dataset(
    name: DatasetName,
    *,
    schema: Any = None,
    source_uri: str | None = None,
    row_count: int | None = None,
    size: int | None = None,
    facets: Mapping[str, Any] | None = None,
    input_facets: Mapping[str, Any] | None = None,
) -> ol.InputDataset:
    """A dataset that a run reads. `schema` is any input of `schema_fields`. Credentials in `source_uri` are removed."""
    statistics = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
        rowCount=_count(row_count), size=_count(size)
    )
    return ol.InputDataset(
        namespace=name.namespace,
        name=name.name,
        facets={**_common_facets(name, schema, source_uri), **(facets or {})},
        inputFacets={**_if_known("inputStatistics", statistics), **(input_facets or {})},
    )


def output_dataset(
    name: DatasetName,
    *,
    schema: Any = None,
    row_count: int | None = None,
    size: int | None = None,
    file_count: int | None = None,
    column_lineage: ColumnLineage | None = None,
    source_uri: str | None = None,
    facets: Mapping[str, Any] | None = None,
    output_facets: Mapping[str, Any] | None = None,
) -> ol.OutputDataset:
    """A dataset that a run wrote. `schema` is any input of `schema_fields`. Credentials in `source_uri` are removed."""
    own = _common_facets(name, schema, source_uri)
    if column_lineage:
        own["columnLineage"] = _column_lineage_facet(column_lineage)
    statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
        rowCount=_count(row_count), size=_count(size), fileCount=_count(file_count)
    )
    return ol.OutputDataset(
        namespace=name.namespace,
        name=name.name,
        facets={**own, **(facets or {})},
        outputFacets={**_if_known("outputStatistics", statistics), **(output_facets or {})},
    )


def strict_problems(
    inputs: Sequence[ol.InputDataset], outputs: Sequence[ol.OutputDataset], *, ended: bool
) -> list[str]:
    """Metadata that strict mode requires and a dataset lacks. Row counts are required only when the run has `ended`."""
    roles: tuple[tuple[str, Sequence[ol.Dataset]], ...] = (("input", inputs), ("output", outputs))
    return [
        f"the {role} {dataset.namespace}/{dataset.name} has no {missing}"
        for role, datasets in roles
        for dataset in datasets
        for missing in _missing(dataset, ended=ended)
    ]


def _missing(dataset: ol.Dataset, *, ended: bool) -> Iterator[str]:
    facets = dataset.facets or {}
    if not _member(facets.get("schema"), "fields"):
        yield "schema: give its `schema`"
    if isinstance(dataset, ol.InputDataset) and "dataSource" not in facets:
        yield "dataSource: build it with `input_dataset`"
    if isinstance(dataset, ol.OutputDataset) and ended:
        statistics = (dataset.outputFacets or {}).get("outputStatistics")
        if _member(statistics, "rowCount") is None:
            yield "row count: give its `row_count`"


def _member(facet: Any, name: str) -> Any:
    return facet.get(name) if isinstance(facet, Mapping) else getattr(facet, name, None)


def _common_facets(name: DatasetName, schema: Any, source_uri: str | None) -> dict[str, Any]:
    uri = _without_credentials(source_uri or "") or _default_uri(name)
    facets: dict[str, Any] = {"dataSource": datasource_dataset.DatasourceDatasetFacet(name=name.namespace, uri=uri)}
    if schema is not None:
        facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=schema_fields(schema))
    return facets


def _default_uri(name: DatasetName) -> str | None:
    """The path of a file; otherwise the namespace, if it is a URI. Not all systems have one."""
    if name.namespace == "file":
        return "file:///" + quote(name.name.partition("#")[0].lstrip("/"))
    return _without_credentials(name.namespace)


def _without_credentials(uri: str) -> str | None:
    """The URI without user, password and parameters. None if they cannot be told apart."""
    found = _URI.fullmatch(uri)
    if found is None:
        return None
    if found["opaque"]:
        return found["scheme"] + found["opaque"]
    user = found["user"] or ""
    is_container = found["scheme"].lower() in _AZURE_SCHEMES and ":" not in user
    return f"{found['scheme']}//{user if is_container else ''}{found['place']}"


def _count(number: int | None) -> int | None:
    """A plain integer, also from a numpy number. Below 0 means unknown, as in a database cursor's -1."""
    return int(number) if number is not None and number >= 0 else None


def _if_known(key: str, statistics: Any) -> dict[str, Any]:
    known = any(_member(statistics, name) is not None for name in ("rowCount", "size", "fileCount"))
    return {key: statistics} if known else {}


def _column_lineage_facet(lineage: ColumnLineage) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    columns = {
        name: column_lineage_dataset.Fields(inputFields=[_input_field(Column(*source)) for source in sources])
        for name, sources in lineage.items()
    }
    return column_lineage_dataset.ColumnLineageDatasetFacet(fields=columns, dataset=None)


def _input_field(column: Column) -> column_lineage_dataset.InputField:
    how = column.transformation
    if isinstance(how, str):
        how = column_lineage_dataset.Transformation(type="DIRECT", subtype="TRANSFORMATION", description=how)
    return column_lineage_dataset.InputField(
        namespace=column.dataset.namespace,
        name=column.dataset.name,
        field=column.field,
        transformations=[how] if how else None,
    )
