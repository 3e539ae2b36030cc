"""Every view and function, from the SQL files and from what DuckDB makes of them."""

import re

from markdown import code, first_sentence, table, text
from tables_page import columns_of, definition

FUNCTIONS = {
    "lineage_upstream": "All datasets that a dataset is made from, to any depth, also through cycles.",
    "lineage_downstream": "All datasets that are made from a dataset, to any depth, also through cycles.",
}


def views_page() -> str:
    """Every view and function with its columns."""
    from lineproof.schemas import views

    about = {**{name: _comment(name) for name in views.VIEWS}, **{name: FUNCTIONS[name] for name in views.FUNCTIONS}}
    rows = [[f"[`{name}`](#{name})", text(first_sentence(comment))] for name, comment in about.items()]
    parts = ["# Views and functions", "How to query them: [tables and views](../tables.md)."]
    parts.append(table(["view", ""], rows))
    for name, comment in about.items():
        call = f"{name}('NAMESPACE', 'NAME')" if name in views.FUNCTIONS else name
        columns = [[code(column), code(kind)] for column, kind in _columns(call)]
        usage = [code(call)] if call != name else []
        parts += [f"## {name}", comment, *usage, table(["column", "type"], columns)]
    return "\n\n".join(parts)


def _comment(view: str) -> str:
    """The comment that a view's file begins with."""
    from lineproof.schemas.views import view_sql

    lines = view_sql(view).splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("--"))
    return "\n".join(line.removeprefix("--").strip() for line in lines[:end])


def _columns(relation: str) -> list[tuple[str, str]]:
    """Names and types of a view's columns, over empty tables."""
    import duckdb

    from lineproof.schemas.tables import TABLES
    from lineproof.schemas.views import for_duckdb

    query = f"FROM {relation}"
    with duckdb.connect() as database:
        for contract in TABLES:
            columns = (f'"{name}" {_duckdb_type(kind)}' for name, kind, _ in columns_of(definition(contract.name)))
            database.execute(f"CREATE TABLE {contract.name} ({', '.join(columns)})")
        for statement in for_duckdb(query):
            database.execute(statement)
        return [(str(name), str(kind)) for name, kind, *_ in database.execute(f"DESCRIBE {query}").fetchall()]


def _duckdb_type(spark_type: str) -> str:
    """A Spark type as DuckDB writes it: `ARRAY<X>` is `X[]`, `STRUCT<a: X>` is `STRUCT(a X)`."""
    kind = spark_type.strip()
    if found := re.fullmatch(r"ARRAY<(.*)>", kind):
        return f"{_duckdb_type(found[1])}[]"
    if found := re.fullmatch(r"STRUCT<(.*)>", kind):
        fields = (field.split(":", 1) for field in _split(found[1]))
        return "STRUCT(" + ", ".join(f'"{name.strip()}" {_duckdb_type(of)}' for name, of in fields) + ")"
    return {"STRING": "VARCHAR", "BINARY": "BLOB", "TIMESTAMP": "TIMESTAMPTZ"}.get(kind, kind)


def _split(fields: str) -> list[str]:
    """Split at the commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in fields:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
