"""Inputs and outputs carry schema, source, statistics and column lineage, and never a password."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import column_lineage_dataset, documentation_dataset, schema_dataset
from openlineage.client.serde import Serde

from lineproof.producers import dataset_names
from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.datasets import Column, ColumnLineage, input_dataset, output_dataset, strict_problems

FEEDBACK = dataset_names.postgres("db", 5432, "teei", "public", "buddy_feedback")
SNIPPETS = dataset_names.postgres("db", 5432, "teei", "public", "evidence_snippets")
SCHEMA = {"id": ("bigint", "row id"), "feedback_text": "text"}
IS_URI = jsonschema_rs.validator_for({"format": "uri"}, validate_formats=True).is_valid


def sent(dataset: ol.InputDataset | ol.OutputDataset) -> dict[str, Any]:
    """The dataset as JSON, its facets without the base members."""
    document: dict[str, Any] = json.loads(Serde.to_json(dataset))
    for group in ("facets", "inputFacets", "outputFacets"):
        for facet in document.get(group, {}).values():
            assert facet.pop("_schemaURL").startswith("https://openlineage.io/spec/facets/")
            facet.pop("_producer")
    return document


def uri_of(name: DatasetName, source_uri: str | None = None) -> str | None:
    source = sent(input_dataset(name, source_uri=source_uri))["facets"]["dataSource"]
    assert source["name"] == name.namespace
    uri: str | None = source.get("uri")
    return uri


def test_an_input_carries_schema_source_and_statistics() -> None:
    """Inputs carry `schema` and `dataSource`."""
    assert sent(input_dataset(FEEDBACK, schema=SCHEMA, row_count=3, size=120)) == {
        "namespace": "postgres://db:5432",
        "name": "teei.public.buddy_feedback",
        "facets": {
            "dataSource": {"name": "postgres://db:5432", "uri": "postgres://db:5432"},
            "schema": {
                "fields": [
                    {"name": "id", "type": "bigint", "description": "row id", "ordinal_position": 1},
                    {"name": "feedback_text", "type": "text", "ordinal_position": 2},
                ]
            },
        },
        "inputFacets": {"inputStatistics": {"rowCount": 3, "size": 120}},
    }


def test_an_output_carries_schema_statistics_and_column_lineage() -> None:
    """Outputs carry `schema` and `outputStatistics`."""
    masked = column_lineage_dataset.Transformation(type="DIRECT", subtype="TRANSFORMATION", masking=True)
    lineage: ColumnLineage = {
        "snippet_text": [Column(FEEDBACK, "feedback_text")],
        "confidence_score": [Column(FEEDBACK, "sentiment", transformation="scaled to 0..1"), (FEEDBACK, "language")],
        "author_hash": [Column(FEEDBACK, "author", masked)],
    }
    document = sent(
        output_dataset(
            SNIPPETS, schema={"snippet_text": "text"}, row_count=0, size=9, file_count=1, column_lineage=lineage
        )
    )
    assert document["outputFacets"] == {"outputStatistics": {"rowCount": 0, "size": 9, "fileCount": 1}}
    assert set(document["facets"]) == {"dataSource", "schema", "columnLineage"}
    feedback = {"namespace": FEEDBACK.namespace, "name": FEEDBACK.name}
    scaled = {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": "scaled to 0..1"}
    assert document["facets"]["columnLineage"]["fields"] == {
        "snippet_text": {"inputFields": [{**feedback, "field": "feedback_text"}]},
        "confidence_score": {
            "inputFields": [
                {**feedback, "field": "sentiment", "transformations": [scaled]},
                {**feedback, "field": "language"},
            ]
        },
        "author_hash": {
            "inputFields": [
                {
                    **feedback,
                    "field": "author",
                    "transformations": [{"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}],
                }
            ]
        },
    }


def test_unknown_values_are_not_sent() -> None:
    assert sent(input_dataset(FEEDBACK))["inputFacets"] == {}
    document = sent(output_dataset(SNIPPETS))
    assert document["outputFacets"] == {}
    assert set(document["facets"]) == {"dataSource"}


def test_facets_of_the_caller_override_generated_ones() -> None:
    documentation = documentation_dataset.DocumentationDatasetFacet(description="what buddies say")
    own = schema_dataset.SchemaDatasetFacet(fields=[schema_dataset.SchemaDatasetFacetFields(name="other")])
    dataset = input_dataset(
        FEEDBACK, schema=SCHEMA, facets={"documentation": documentation, "schema": own}, input_facets={"x": {"y": 1}}
    )
    assert dataset.facets is not None
    assert dataset.inputFacets is not None
    assert dataset.facets["documentation"] is documentation
    assert dataset.facets["schema"] is own
    assert set(dataset.inputFacets) == {"x"}
    output = output_dataset(SNIPPETS, row_count=1, output_facets={"outputStatistics": {"rowCount": 2}})
    assert Serde.to_dict(output)["outputFacets"] == {"outputStatistics": {"rowCount": 2}}


def test_counts_are_plain_integers_and_negative_ones_are_unknown() -> None:
    numpy = pytest.importorskip("numpy")
    dataset = sent(output_dataset(SNIPPETS, row_count=numpy.int32(5), size=-1, file_count=float("nan")))  # type: ignore[arg-type]
    assert dataset["outputFacets"] == {"outputStatistics": {"rowCount": 5}}
    assert sent(output_dataset(SNIPPETS, row_count=-1))["outputFacets"] == {}
    assert sent(output_dataset(SNIPPETS, file_count=2))["outputFacets"] == {"outputStatistics": {"fileCount": 2}}


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        (FEEDBACK, "postgres://db:5432"),
        (dataset_names.kafka("broker", 9092, "donations"), "kafka://broker:9092"),
        (dataset_names.glue("eu-west-1", "123456789012", "crm", "d"), "arn:aws:glue:eu-west-1:123456789012"),
        (dataset_names.abfss("raw", "lake", "/crm"), "abfss://raw@lake.dfs.core.windows.net"),
        (dataset_names.snowflake("org", "acct", "a", "b", "c"), "snowflake://org-acct"),
        (dataset_names.file("/data/my donors#1.csv"), "file:///data/my%20donors"),
        (dataset_names.sqlite("/data/crm.db", "donors"), "file:///data/crm.db"),
        (dataset_names.bigquery("impact", "crm", "donors"), None),
        (dataset_names.http_api("benevity.api", "volunteer_hours"), None),
        (dataset_names.llm_model("anthropic", "claude-sonnet-4-5"), None),
        (DatasetName("kafka://a:9092,b:9092", "donations"), None),
    ],
)
def test_the_source_uri_is_derived_from_a_namespace_that_is_a_uri(name: DatasetName, uri: str | None) -> None:
    assert uri_of(name) == uri
    assert uri is None or IS_URI(uri)


@pytest.mark.parametrize(
    ("given_uri", "uri"),
    [
        ("https://api.benevity.org/v1/hours", "https://api.benevity.org/v1/hours"),
        ("postgresql://etl:s3cr3t@db:5432/crm", "postgresql://db:5432/crm"),
        ("https://s3cr3t@api.benevity.org/v1", "https://api.benevity.org/v1"),
        ("https://api.benevity.org/v1?key=s3cr3t#top", "https://api.benevity.org/v1"),
        ("jdbc:postgresql://db:5432/crm?user=etl&password=s3cr3t", "jdbc:postgresql://db:5432/crm"),
        ("jdbc:sqlserver://db:1433;user=etl;password=s3cr3t", "jdbc:sqlserver://db:1433"),
        ("jdbc:postgresql://etl:s3cr3t@db:5432/crm", "jdbc:postgresql://db:5432/crm"),
        ("abfss://raw@lake.dfs.core.windows.net/crm?sig=s3cr3t", "abfss://raw@lake.dfs.core.windows.net/crm"),
        ("abfss://etl:s3cr3t@lake.dfs.core.windows.net/crm", "abfss://lake.dfs.core.windows.net/crm"),
        ("POSTGRES://etl:s3cr3t@DB/crm", "POSTGRES://DB/crm"),
        ("file:/data/crm.db", "file:/data/crm.db"),
    ],
)
def test_a_uri_loses_its_credentials_and_parameters(given_uri: str, uri: str) -> None:
    assert uri_of(FEEDBACK, given_uri) == uri
    assert IS_URI(uri)


@pytest.mark.parametrize(
    "given_uri",
    [
        "postgres://etl:p@s3cr3t@db/crm",
        "postgres://etl:s3cr3t/x@db/crm",
        "postgres://etl:s3cr3t#x@db/crm",
        "postgres://etl:s3cr3t?x@db/crm",
        "postgres://etl:s3cr3t x@db/crm",
        "jdbc:oracle:thin:scott/s3cr3t@//db:1521/crm",
        "jdbc:sqlserver://db:1433;password=s3cr3t@x/y",
        "etl/s3cr3t@db",
        "not a uri",
    ],
)
def test_a_uri_with_an_ambiguous_password_is_not_sent(given_uri: str) -> None:
    assert uri_of(FEEDBACK, given_uri) == "postgres://db:5432"


@given(
    user=st.text("abcXYZ019._-", max_size=8),
    password=st.text("abc123:/?#;@%&=+ [](){}é", max_size=12),
    rest=st.sampled_from(["db", "db:5432", "db:5432/crm", "db/crm?x=y", "db;x=y"]),
)
def test_no_password_of_any_shape_is_sent(user: str, password: str, rest: str) -> None:
    secret = f"S3CR3T{password}S3CR3T"
    uri = uri_of(FEEDBACK, f"postgres://{user}:{secret}@{rest}")
    assert uri is not None
    assert "S3CR3T" not in uri


def test_strict_mode_names_each_dataset_and_the_missing_metadata() -> None:
    """Strict mode requires a schema for every dataset and a row count for every output."""
    bare_input = ol.InputDataset("crm", "donors")
    bare_output = ol.OutputDataset("crm", "letters")
    assert strict_problems([bare_input], [bare_output], ended=True) == [
        "the input crm/donors has no schema: give its `schema`",
        "the input crm/donors has no dataSource: build it with `input_dataset`",
        "the output crm/letters has no schema: give its `schema`",
        "the output crm/letters has no row count: give its `row_count`",
    ]
    assert len(strict_problems([bare_input], [bare_output], ended=False)) == 3


def test_strict_mode_accepts_datasets_from_the_helpers() -> None:
    source = input_dataset(FEEDBACK, schema=SCHEMA)
    assert strict_problems([source], [output_dataset(SNIPPETS, schema=SCHEMA, row_count=0)], ended=True) == []
    unfinished = output_dataset(SNIPPETS, schema=SCHEMA, size=10)
    assert strict_problems([source], [unfinished], ended=False) == []
    assert len(strict_problems([source], [unfinished], ended=True)) == 1


def test_strict_mode_reads_facets_that_are_plain_mappings() -> None:
    facets: dict[str, Any] = {"schema": {"fields": [{"name": "id"}]}}
    statistics: dict[str, Any] = {"outputStatistics": {"rowCount": 1}}
    output = ol.OutputDataset("crm", "letters", facets=facets, outputFacets=statistics)
    assert strict_problems([], [output], ended=True) == []
    assert strict_problems([], [ol.OutputDataset("crm", "x", facets={"schema": {"fields": []}})], ended=False) != []  # type: ignore[dict-item]
