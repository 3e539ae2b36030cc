"""Every table, from its module in streaming/tables."""

import importlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from markdown import code, table, text

_COLUMN = re.compile(r"`?(?P<name>\w+)`? (?P<type>.+?)(?: NOT NULL)?(?: COMMENT '(?P<comment>.*)')?", re.DOTALL)


def tables_page() -> str:
    """Every table with its columns."""
    from lineproof.schemas.tables import TABLES

    definitions = [(contract, definition(contract.name)) for contract in TABLES]
    rows = [[f"[`{each.name}`](#{each.name})", text(known.comment), each.written_by] for each, known in definitions]
    parts = ["# Tables", "How to query them: [tables and views](../tables.md)."]
    parts.append(table(["table", "", "written by"], rows))
    for contract, known in definitions:
        facts = [f"Key: {_names(contract.key)}."]
        facts += [f"Partitioned by {_names(known.partition_by)}."] if known.partition_by else []
        facts += [f"Clustered by {_names(known.cluster_by)}."] if known.cluster_by else []
        columns = [[code(name), code(kind), text(comment)] for name, kind, comment in columns_of(known)]
        parts += [f"## {contract.name}", f"{known.comment}\n{' '.join(facts)}"]
        parts.append(table(["column", "type", "meaning"], columns))
    return "\n\n".join(parts)


def definition(name: str) -> Any:
    """A table's definition, from its module."""
    return importlib.import_module(f"lineproof.streaming.tables.{name}").TABLE


def columns_of(known: Any) -> Iterator[tuple[str, str, str]]:
    """Name, Spark type and comment of each column."""
    for column in known.schema:
        found = _COLUMN.fullmatch(column)
        if not found:
            raise ValueError(f"not a column definition: {column}")
        yield found["name"], found["type"], (found["comment"] or "").replace("\\'", "'")


def _names(columns: Sequence[str]) -> str:
    return ", ".join(code(column) for column in columns)
