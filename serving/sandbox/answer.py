"""Run a checked SELECT, and make its rows values that JSON has.

What a JSON number cannot hold exactly is text: integers beyond 2^53, decimals with a fraction, NaN and infinity. Times
are ISO 8601, with Z where they have a zone; bytes are base64; everything else is text as DuckDB writes it.
"""

import json
import math
import re
from datetime import datetime
from decimal import Decimal
from typing import Any

import duckdb

from lineproof.schemas.errors import LineproofError
from lineproof.serving.open_tables import Known, TableSet, tables_in
from lineproof.serving.sandbox.select_check import checked

MAX_ROWS = 10_000
MAX_BYTES = 8 * 2**20
"""Of the rows as JSON. Rows beyond it are left out."""
_MAX_CHARACTERS = 64 * 2**20
"""Of all values together, before they are counted as JSON."""
_MIN_CELL, _MAX_CELL = 1_000, 1_000_000
_SAFE_INTEGER = 2**53
_AS_THEY_ARE = re.compile(r"BOOLEAN|U?(?:TINY|SMALL|BIG)INT|U?INTEGER|FLOAT|DOUBLE")
_NESTED = re.compile(r".*\[\d*\]|(?:STRUCT|MAP|UNION)\(.*|VARIANT", re.DOTALL)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(\+00)?")


def answer(tables: TableSet, connection: duckdb.DuckDBPyConnection, sql: str, limit: int) -> dict[str, Any]:
    """The rows of one SELECT, as a JSON object. `connection` parses it only."""
    inner = f"({checked(connection, sql)}\n)"
    described = tables.query(f"DESCRIBE SELECT * FROM {inner}").rows  # noqa: S608 - it is checked
    columns = [(str(row[0]), str(row[1]).strip('"')) for row in described]
    # The fewer values are asked for, the longer they may be.
    longest = min(max(_MAX_CHARACTERS // (limit * max(len(columns), 1)), _MIN_CELL), _MAX_CELL)
    found = _rows(tables, inner, columns, limit, longest) if columns else []
    rows, is_cut = _bounded(found[:limit], columns, longest)
    missing = sorted(tables_in(sql) - tables.snapshots.keys())
    return {
        "columns": [{"name": name, "type": type_} for name, type_ in columns],
        "rows": rows,
        "truncated": len(rows) < len(found),
        "cut_values": is_cut,
        "longest_value": longest,
        "note": f"There is no table {', '.join(missing)} yet, so there are no rows." if missing else None,
        "known": known_document(tables.known),
        "versions": tables.versions,
    }


def known_document(known: Known) -> dict[str, str | None]:
    """Which state of the tables an answer is about."""
    return {"how": known.how, "at": _iso(known.at), "oldest_at": _iso(known.oldest_at)}


def _iso(time: datetime | None) -> str | None:
    return time.isoformat().replace("+00:00", "Z") if time else None


def error_document(error: LineproofError) -> dict[str, Any]:
    """An error as the worker passes it on."""
    return {"error": type(error).__name__, "what": error.what, "remedy": error.remedy}


def _rows(
    tables: TableSet, inner: str, columns: list[tuple[str, str]], limit: int, longest: int
) -> list[tuple[Any, ...]]:
    names = [f"c{number}" for number in range(len(columns))]
    values = ", ".join(_selected(name, type_, longest) for name, (_, type_) in zip(names, columns, strict=True))
    query = f"SELECT {values} FROM {inner} AS asked({', '.join(names)})"  # noqa: S608
    return tables.query(query, limit=limit + 1).rows


def _selected(name: str, type_: str, longest: int) -> str:
    """A column as numbers or as text, at most one character longer than allowed."""
    if _AS_THEY_ARE.fullmatch(type_):
        return name
    if type_ == "BLOB":
        text = f"to_base64({name}[1:{longest}])"
    elif _NESTED.fullmatch(type_):
        text = f"CAST(to_json({name}) AS VARCHAR)"
    else:
        text = f"CAST({name} AS VARCHAR)"
    return f"left({text}, {longest + 1}) AS {name}"


def _bounded(found: list[tuple[Any, ...]], columns: list[tuple[str, str]], longest: int) -> tuple[list[list[Any]], int]:
    """The rows up to the limit of bytes, and how many of their values are cut."""
    rows: list[list[Any]] = []
    size = cut = 0
    for values in found:
        row = [_value(value, type_, longest) for value, (_, type_) in zip(values, columns, strict=True)]
        size += len(json.dumps(row))
        if size > MAX_BYTES:
            break
        cut += sum(isinstance(value, str) and len(value) > longest for value in values)
        rows.append(row)
    return rows, cut


def _value(value: Any, type_: str, longest: int) -> Any:
    if isinstance(value, str):
        if len(value) > longest:
            return f"{value[:longest]}…"
        return _of_text(value, type_)
    return _number(value)


def _of_text(text: str, type_: str) -> Any:
    if _NESTED.fullmatch(type_):
        try:
            return _exact(json.loads(text))
        except (ValueError, RecursionError):
            return text
    if type_.startswith("TIMESTAMP"):
        time = _TIME.fullmatch(text)
        return f"{time[1]}T{time[2]}{'Z' if time[3] else ''}" if time else text
    if type_.startswith("DECIMAL"):
        number = Decimal(text)
        return _number(int(number)) if number == number.to_integral_value() and "." not in text else text
    return _number(int(text)) if type_ in ("HUGEINT", "UHUGEINT") else text


def _number(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _SAFE_INTEGER:
        return str(value)
    return value


def _exact(value: Any) -> Any:
    """The same for what is inside lists and structs."""
    if isinstance(value, list):
        return [_exact(one) for one in value]
    if isinstance(value, dict):
        return {name: _exact(one) for name, one in value.items()}
    return _number(value)
