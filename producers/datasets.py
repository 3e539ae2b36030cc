"""Inputs and outputs with what their readers need: schema, source, statistics and column lineage (R15)."""

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

from lineproof.producers.dataschema import fields_of
from lineproof.producers.dataset_names import DatasetName

# An address has no @ but the one after user and password: where another is, no one can tell where a password ends.
_ADDRESS = re.compile(
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
    """A column that an output's column is made of; `transformation` says how, in words or as OpenLineage has it."""

    dataset: DatasetName
    field: str
    transformation: str | column_lineage_dataset.Transformation | None = None


ColumnLineage = Mapping[str, Sequence[Column | tuple[DatasetName, str]]]
"""From each column of an output to the columns it is made of."""


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
    """What a run reads. `schema` is anything that `fields_of` takes; credentials in `source_uri` are left out."""
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
    """What a run wrote. `schema` is anything that `fields_of` takes; credentials in `source_uri` are left out."""
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
    """What strict mode refuses. Rows written are known only once the run has `ended` well."""
    roles: tuple[tuple[str, Sequence[ol.Dataset]], ...] = (("input", inputs), ("output", outputs))
    return [
        f"the {role} {dataset.namespace}/{dataset.name} has no {lack}"
        for role, datasets in roles
        for dataset in datasets
        for lack in _lacks(dataset, ended=ended)
    ]


def _lacks(dataset: ol.Dataset, *, ended: bool) -> Iterator[str]:
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
    uri = _address(source_uri or "") or _uri_of(name)
    facets: dict[str, Any] = {"dataSource": datasource_dataset.DatasourceDatasetFacet(name=name.namespace, uri=uri)}
    if schema is not None:
        facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=fields_of(schema))
    return facets


def _uri_of(name: DatasetName) -> str | None:
    """Of a file, its path; of others, the namespace where it is a URI: not all systems have one."""
    if name.namespace == "file":
        return "file:///" + quote(name.name.partition("#")[0].lstrip("/"))
    return _address(name.namespace)


def _address(uri: str) -> str | None:
    """The place that a URI leads to, without user, password and parameters; None if these cannot be told apart."""
    found = _ADDRESS.fullmatch(uri)
    if found is None:
        return None
    if found["opaque"]:
        return found["scheme"] + found["opaque"]
    user = found["user"] or ""
    is_container = found["scheme"].lower() in _AZURE_SCHEMES and ":" not in user
    return f"{found['scheme']}//{user if is_container else ''}{found['place']}"


def _count(number: int | None) -> int | None:
    """A plain integer, also of numpy's; what is below 0 is unknown, as a database cursor's -1."""
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
