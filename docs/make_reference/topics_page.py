"""Every topic, from the settings and the Avro schemas."""

import json
from collections.abc import Iterator
from typing import Any

from markdown import code, table, text
from source import ROOT, constants

SCHEMAS = {"events": "envelope", "runs": "run", "violations": "violation", "quality": "quality_result"}
"""The Avro schema of each topic. A dead letter keeps the bytes that it came with."""


def topics_page() -> str:
    """Every topic, its Avro schema and the record headers."""
    from lineproof.schemas.avro import newest
    from lineproof.settings import Settings

    names = {
        setting: field
        for setting, field in type(Settings().topics).model_fields.items()
        if isinstance(field.default, str) and field.default.startswith("lineage.")
    }
    rows = []
    for setting, field in names.items():
        schema = SCHEMAS.get(setting)
        link = f"[`schemas/{schema}.avsc`](../../schemas/{schema}.avsc)" if schema else "none"
        rows.append([code(field.default), code(f"topics.{setting}"), text(field.description), link])
    parts = ["# Topics", "Keys, ids and guarantees: [topics](../topics.md)."]
    parts.append(table(["topic", "setting", "meaning", "Avro schema"], rows))
    for setting, schema in SCHEMAS.items():
        document = json.loads(newest(schema).text)
        fields = [[code(name), code(kind), text(about)] for name, kind, about in _fields(document)]
        parts += [f"## {names[setting].default}", f"{document['doc']} Schema version {newest(schema).version}."]
        parts.append(table(["field", "type", "meaning"], fields))
    headers = [[code(value), text(about)] for value, about in constants(ROOT / "schemas" / "headers.py")]
    parts += ["## Record headers", table(["header", "meaning"], headers)]
    return "\n\n".join(parts)


def _fields(record: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """The fields of an Avro record, those of nested records after their own."""
    for field in record["fields"]:
        kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
        yield prefix + field["name"], _avro_type(field["type"]), field.get("doc", "")
        for kind in kinds:
            inner = kind.get("items", kind) if isinstance(kind, dict) else kind
            if isinstance(inner, dict) and inner["type"] == "record":
                yield from _fields(inner, f"{prefix}{field['name']}.")


def _avro_type(kind: Any) -> str:
    if isinstance(kind, str):
        return kind
    if isinstance(kind, list):
        return " or ".join(_avro_type(each) for each in kind)
    if kind["type"] == "array":
        return f"array of {_avro_type(kind['items'])}"
    if kind["type"] == "map":
        return f"map of {_avro_type(kind['values'])}"
    if kind["type"] == "enum":
        return " / ".join(kind["symbols"])
    return str(kind.get("logicalType") or kind.get("name") or kind["type"])
