"""The fields of a dataset from a dict, a list, a dataclass, a data frame, or an Arrow or Spark schema.

Libraries are recognised by the modules and methods of their types, so that none of them has to be installed. Nested
types follow the OpenLineage convention: a struct has its fields, an array `_element`, a map `key` and `value`.
"""

import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

from openlineage.client.facet_v2 import schema_dataset

from lineproof.schemas.errors import LineproofError

Field = schema_dataset.SchemaDatasetFacetFields

_Column = tuple[str, Any, str | None]
"""A name, a type from any library, and a description."""


class UnknownSchema(LineproofError):
    """The value does not describe the fields of a dataset."""


def schema_fields(source: Any) -> list[Field]:
    """The fields that a mapping, a list, a dataclass, or a data frame or schema of a known library describes.

    `{"id": "bigint", "name": ("text", "full name"), "address": {"street": "text"}}` is a mapping;
    a list has `("name", "text")` or `("name", "text", "full name")`.
    """
    return _fields(_columns(source), ())


def _fields(columns: Iterable[_Column], within: tuple[Any, ...]) -> list[Field]:
    result = []
    for position, (name, kind, description) in enumerate(columns, 1):
        text, children = _shape(kind) or _refuse(f"the type of the field {name!r}, which is a", kind)
        # A type that contains itself is expanded once.
        nested = _fields(children, (*within, kind)) if children and kind not in within else None
        result.append(
            Field(name=str(name), type=text, description=description, ordinal_position=position, fields=nested)
        )
    return result


def _columns(source: Any) -> list[_Column]:
    library = _library(source)
    if library == "pandas":
        return _pandas_columns(source)
    if library == "pyarrow":
        schema = getattr(source, "schema", source)
        return _arrow_columns(schema) if type(schema).__name__ == "Schema" else _refuse("a", source)
    if library == "polars" and hasattr(source, "collect_schema"):
        source = source.collect_schema()
    if isinstance(source, type) and is_dataclass(source):
        return _dataclass_columns(source)
    if isinstance(source, Mapping):
        return [_column(name, kind) for name, kind in source.items()]
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        return [_column(*entry) if _is_entry(entry) else _refuse("a list with a", entry) for entry in source]
    return _spark_columns(getattr(source, "schema", source), source)


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, tuple | list) and len(entry) in (2, 3)


def _column(name: str, kind: Any, description: str | None = None) -> _Column:
    if isinstance(kind, tuple) and len(kind) == 2:
        kind, description = kind
    return name, kind, description


def _pandas_columns(source: Any) -> list[_Column]:
    dtypes = source.dtypes if hasattr(type(source), "columns") else source
    # A series of values is not a series of types: its data must not be sent as a schema.
    if not hasattr(dtypes, "items") or not all(hasattr(dtype, "kind") for dtype in dtypes):
        _refuse("a", source)
    return [(name, dtype, None) for name, dtype in dtypes.items()]


def _arrow_columns(arrow_fields: Iterable[Any]) -> list[_Column]:
    return [(field.name, field.type, _arrow_description(field.metadata or {})) for field in arrow_fields]


def _arrow_description(metadata: Mapping[bytes, bytes]) -> str | None:
    text = metadata.get(b"description") or metadata.get(b"comment")
    return text.decode(errors="replace") if text else None


def _spark_columns(schema: Any, source: Any) -> list[_Column]:
    if not hasattr(schema, "simpleString") or not hasattr(schema, "fields"):
        _refuse("a", source)
    return [(field.name, field.dataType, (field.metadata or {}).get("comment")) for field in schema.fields]


def _dataclass_columns(source: type) -> list[_Column]:
    try:
        hints = get_type_hints(source)
    except NameError:  # a type that is defined in a function, or only for type checkers
        hints = {}
    return [(f.name, hints.get(f.name, f.type), f.metadata.get("description")) for f in fields(source)]


def _shape(kind: Any) -> tuple[str, list[_Column]] | None:
    """A type's name and its nested columns; None if it is not a type."""
    if isinstance(kind, str):
        return kind, []
    if isinstance(kind, Mapping) or (isinstance(kind, type) and is_dataclass(kind)):
        return "struct", _columns(kind)
    if _library(kind) == "pyarrow":
        return _arrow_shape(kind)
    if _library(kind) == "polars":
        return _polars_shape(kind)
    if hasattr(kind, "simpleString"):
        return _spark_shape(kind)
    if hasattr(kind, "kind"):  # a numpy or pandas dtype
        return str(kind), []
    return _python_shape(kind)


def _arrow_shape(kind: Any) -> tuple[str, list[_Column]]:
    if hasattr(kind, "item_type"):
        return "map", [("key", kind.key_type, None), ("value", kind.item_type, None)]
    if hasattr(kind, "value_field"):
        return "array", [("_element", kind.value_type, None)]
    if type(kind).__name__ == "StructType":
        return "struct", _arrow_columns(kind.field(position) for position in range(kind.num_fields))
    return str(kind), []


def _polars_shape(kind: Any) -> tuple[str, list[_Column]]:
    if getattr(kind, "inner", None) is not None:
        return "array", [("_element", kind.inner, None)]
    if hasattr(kind, "fields"):
        return "struct", [(field.name, field.dtype, None) for field in kind.fields]
    return str(kind), []


def _spark_shape(kind: Any) -> tuple[str, list[_Column]]:
    if hasattr(kind, "keyType"):
        return "map", [("key", kind.keyType, None), ("value", kind.valueType, None)]
    if hasattr(kind, "elementType"):
        return "array", [("_element", kind.elementType, None)]
    if hasattr(kind, "fields"):
        return "struct", _spark_columns(kind, kind)
    return kind.simpleString(), []


def _python_shape(kind: Any) -> tuple[str, list[_Column]] | None:
    origin, inner = get_origin(kind), [part for part in get_args(kind) if part not in (type(None), ...)]
    if origin in (Union, types.UnionType) and len(inner) == 1:
        return _shape(inner[0])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "map", [("key", inner[0], None), ("value", inner[1], None)]
    if isinstance(origin, type) and issubclass(origin, Collection) and len(inner) == 1:
        return "array", [("_element", inner[0], None)]
    if isinstance(kind, type) and not origin:
        return kind.__name__, []
    return (str(kind), []) if origin or kind is Any else None


def _library(value: Any) -> str | None:
    modules = [cls.__module__.partition(".")[0] for cls in type(value).__mro__]
    return next((module for module in modules if module in ("pandas", "polars", "pyarrow")), None)


def _refuse(what: str, value: Any) -> NoReturn:
    raise UnknownSchema(
        f"No schema can be read from {what} {type(value).__qualname__}.",
        "Give a dict of names and types, a list of (name, type) or (name, type, description), a dataclass, "
        "a pandas or polars frame, or an Arrow or Spark schema or table.",
    )
