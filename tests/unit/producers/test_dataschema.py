"""Schemas from dicts, lists, dataclasses, data frames and schema objects."""

import subprocess
import sys
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Optional

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import types as spark

from lineproof.producers.dataschema import Field, UnknownSchema, schema_fields

Nested = tuple[Any, ...]


def summary(fields: list[Field]) -> list[Nested]:
    """(name, type) of each field, with its description and nested fields if it has any."""
    assert [field.ordinal_position for field in fields] == list(range(1, len(fields) + 1))
    return [
        (field.name, field.type, *([field.description] if field.description else []), *summary(field.fields or []))
        for field in fields
    ]


@dataclass
class Address:
    street: str
    tags: list[str]


@dataclass
class Donor:
    id: int
    name: str = field(metadata={"description": "full name"})
    born: date | None
    address: Optional[Address]  # noqa: UP045
    scores: dict[str, float]
    pair: tuple[int, str]
    anything: Any
    parents: list["Donor"]


def test_a_mapping_gives_types_descriptions_and_structs() -> None:
    source = {
        "id": "bigint",
        "name": ("text", "full name"),
        "address": {"street": "text", "geo": {"lat": "double"}},
        "home": ({"street": "text"}, "where to write to"),
    }
    assert summary(schema_fields(source)) == [
        ("id", "bigint"),
        ("name", "text", "full name"),
        ("address", "struct", ("street", "text"), ("geo", "struct", ("lat", "double"))),
        ("home", "struct", "where to write to", ("street", "text")),
    ]


def test_a_list_is_equivalent_to_a_mapping() -> None:
    assert summary(
        schema_fields([("id", "bigint"), ["name", "text", "full name"], ("address", {"street": "text"})])
    ) == [
        ("id", "bigint"),
        ("name", "text", "full name"),
        ("address", "struct", ("street", "text")),
    ]


def test_a_field_without_nested_fields_has_no_fields_member() -> None:
    """Keeps events small: no empty list in every column."""
    assert schema_fields({"id": "bigint"})[0].fields is None


def test_an_arrow_schema_keeps_its_nesting_and_its_descriptions() -> None:
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False, metadata={"description": "row id"}),
            pa.field("amount", pa.decimal128(10, 2), metadata={"comment": "in euro"}),
            pa.field("at", pa.timestamp("us", tz="UTC"), metadata={"origin": "crm"}),
            pa.field("address", pa.struct([pa.field("street", pa.string(), metadata={"description": "and number"})])),
            pa.field("orders", pa.list_(pa.struct([("sku", pa.string())]))),
            pa.field("phones", pa.large_list(pa.string())),
            pa.field("scores", pa.map_(pa.string(), pa.list_(pa.float64()))),
            pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
        ]
    )
    expected = [
        ("id", "int64", "row id"),
        ("amount", "decimal128(10, 2)", "in euro"),
        ("at", "timestamp[us, tz=UTC]"),
        ("address", "struct", ("street", "string", "and number")),
        ("orders", "array", ("_element", "struct", ("sku", "string"))),
        ("phones", "array", ("_element", "string")),
        ("scores", "map", ("key", "string"), ("value", "array", ("_element", "double"))),
        ("kind", "dictionary<values=string, indices=int8, ordered=0>"),
    ]
    assert summary(schema_fields(schema)) == expected
    assert summary(schema_fields(schema.empty_table())) == expected


def test_an_arrow_batch_has_a_schema_and_an_array_has_none() -> None:
    assert summary(schema_fields(pa.record_batch({"id": [1]}))) == [("id", "int64")]
    with pytest.raises(UnknownSchema, match="from a Int64Array"):
        schema_fields(pa.array([1]))


def test_a_pandas_frame_and_its_dtypes_are_equivalent() -> None:
    frame = pd.DataFrame(
        {"id": pd.Series([1], dtype="int64"), 7: [0.5], "at": pd.to_datetime(["2024-01-31"], utc=True)}
    )
    frame["columns"] = pd.Categorical(["a"])
    found = summary(schema_fields(frame))
    assert found[:2] == [("id", "int64"), ("7", "float64")]
    assert found[2][1].startswith("datetime64[")
    assert found[3] == ("columns", "category")
    assert summary(schema_fields(frame.dtypes)) == found


def test_a_subclass_of_a_pandas_frame_is_a_pandas_frame() -> None:
    frame = type("Frame", (pd.DataFrame,), {})({"schema": [1]})
    assert summary(schema_fields(frame)) == [("schema", "int64")]


def test_pandas_values_are_not_read_as_a_schema() -> None:
    """Otherwise a column of names would be sent as field types, with personal data."""
    for data in (pd.Series(["Ada", "Grace"]), pd.Series([1, 2]), pd.Index(["Ada"]), pd.Timestamp(0)):
        with pytest.raises(UnknownSchema) as error:
            schema_fields(data)
        assert "Ada" not in str(error.value)


def test_a_polars_frame_keeps_its_nesting() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(schema={"id": pl.Int64, "orders": pl.List(pl.Struct({"sku": pl.String})), "at": pl.Date})
    expected = [("id", "Int64"), ("orders", "array", ("_element", "struct", ("sku", "String"))), ("at", "Date")]
    for source in (frame, frame.lazy(), frame.schema):
        assert summary(schema_fields(source)) == expected
    with pytest.raises(UnknownSchema, match="from a Series"):
        schema_fields(pl.Series([1]))


class SparkFrame:
    """A data frame stub without a Spark session."""

    def __init__(self, schema: spark.StructType) -> None:
        self.schema = schema


def test_a_spark_schema_keeps_its_nesting_and_its_comments() -> None:
    address = spark.StructType([spark.StructField("street", spark.StringType(), metadata={"comment": "and number"})])
    schema = spark.StructType(
        [
            spark.StructField("id", spark.LongType(), nullable=False, metadata={"comment": "row id"}),
            spark.StructField("amount", spark.DecimalType(10, 2)),
            spark.StructField("address", address),
            spark.StructField("homes", spark.ArrayType(address)),
            spark.StructField("scores", spark.MapType(spark.StringType(), spark.DoubleType())),
        ]
    )
    expected = [
        ("id", "bigint", "row id"),
        ("amount", "decimal(10,2)"),
        ("address", "struct", ("street", "string", "and number")),
        ("homes", "array", ("_element", "struct", ("street", "string", "and number"))),
        ("scores", "map", ("key", "string"), ("value", "double")),
    ]
    assert summary(schema_fields(schema)) == expected
    assert summary(schema_fields(SparkFrame(schema))) == expected
    with pytest.raises(UnknownSchema):
        schema_fields(spark.StringType())


def test_a_dataclass_is_read_with_nested_dataclasses() -> None:
    address = ("struct", ("street", "str"), ("tags", "array", ("_element", "str")))
    assert summary(schema_fields(Donor)) == [
        ("id", "int"),
        ("name", "str", "full name"),
        ("born", "date"),
        ("address", *address),
        ("scores", "map", ("key", "str"), ("value", "float")),
        ("pair", "tuple[int, str]"),
        ("anything", "typing.Any" if sys.version_info < (3, 11) else "Any"),
        # A type that contains itself is expanded once.
        ("parents", "array", ("_element", "struct", *summary(schema_fields(Donor))[:-1], ("parents", "array"))),
    ]


def test_a_dataclass_with_unresolvable_types_keeps_their_names() -> None:
    @dataclass
    class Local:
        other: "Nowhere"  # type: ignore[name-defined]  # noqa: F821

    assert summary(schema_fields(Local)) == [("other", "Nowhere")]


@pytest.mark.parametrize(
    ("source", "what"),
    [
        (None, "from a NoneType"),
        ("id bigint", "from a str"),
        ({"id", "name"}, "from a set"),
        (["id", "name"], "from a list with a str"),
        ([("id",)], "from a list with a tuple"),
        ({"id": 5}, "from the type of the field 'id', which is a int"),
        ({"id": None}, "from the type of the field 'id', which is a NoneType"),
        ({"id": ("text", "a", "b")}, "from the type of the field 'id', which is a tuple"),
        (Address("Main Street", []), "from a Address"),
    ],
)
def test_other_values_raise_with_a_list_of_accepted_ones(source: object, what: str) -> None:
    with pytest.raises(UnknownSchema) as error:
        schema_fields(source)
    assert what in error.value.what
    for accepted in ("dict", "list of (name, type)", "dataclass", "pandas", "Arrow", "Spark"):
        assert accepted in error.value.remedy


def test_no_data_frame_library_is_imported() -> None:
    code = (
        "import sys; from lineproof.producers.dataschema import schema_fields; schema_fields({'id': 'bigint'}); "
        "sys.exit(any(name in sys.modules for name in ('pandas', 'pyarrow', 'polars', 'pyspark')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
