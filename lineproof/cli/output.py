"""Print results: data on stdout, everything else on stderr."""

import base64
import csv
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

out = Console(soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


class Format(str, Enum):
    """The output formats."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def show(columns: Sequence[str], rows: Iterable[Sequence[Any]], form: Format = Format.TABLE) -> None:
    """Print rows on stdout: a table for people, one JSON array or CSV for programs.

    JSON and CSV are written row by row, so a result of any size needs little memory.
    """
    if form is Format.JSON:
        _print_json(dict(zip(columns, row, strict=True)) for row in rows)
    elif form is Format.CSV:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_csv_cell(value) for value in row] for row in rows)
    else:
        _print_table(columns, list(rows))


def _print_json(documents: Iterable[dict[str, Any]]) -> None:
    """Print a JSON array as `json.dumps` with an indent of 2 does, one document at a time."""
    separator = "["
    for document in documents:
        text = json.dumps(document, default=_plain, ensure_ascii=False, indent=2)
        print(separator, text.replace("\n", "\n  "), sep="\n  ", end="")
        separator = ","
    print("[]" if separator == "[" else "\n]")


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    table = Table(header_style="bold", box=None, pad_edge=False)
    for number, name in enumerate(columns):
        is_number = bool(rows) and all(isinstance(row[number], int | float | Decimal) for row in rows)
        table.add_column(escape(name), justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(_cell(value)) for value in row))
    Console(width=None if sys.stdout.isatty() else 200).print(table)


class Lines:
    """Print rows on stdout as they arrive, without knowing how many there will be or how wide."""

    def __init__(self, columns: Sequence[str], form: Format) -> None:
        self._columns = columns
        self._form = form
        self._widths: list[int] = []

    def print(self, row: Sequence[Any]) -> None:
        """Print a row; before the first row, the column names."""
        if self._form is Format.CSV:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            if not self._widths:
                self._widths = [0]
                writer.writerow(self._columns)
            writer.writerow([_csv_cell(value) for value in row])
        else:
            cells = list(map(_cell, row))
            if not self._widths:
                self._widths = [max(map(len, pair)) for pair in zip(self._columns, cells, strict=True)]
                print(self._aligned(self._columns))
            print(self._aligned(cells))
        sys.stdout.flush()

    def _aligned(self, cells: Sequence[str]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(cells, self._widths, strict=True)).rstrip()


def print_line(document: Any) -> None:
    """Print a JSON object on one line, and flush."""
    print(json.dumps(document, default=_plain, ensure_ascii=False), flush=True)


def progress(counted: ProgressColumn | None = None) -> Progress:
    """A progress bar with the remaining time, on stderr if that is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), counted or MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=err, disable=not err.is_terminal)


def _plain(value: Any) -> Any:
    """A JSON value for a type that JSON does not have."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    return str(value)


def _csv_cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, list | dict | bool):
        return json.dumps(value, default=_plain, ensure_ascii=False)
    return value if isinstance(value, str | int | float) else _plain(value)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value, default=_plain, ensure_ascii=False)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return _text(value)


def _text(value: Any) -> str:
    """Escape control characters: names come from producers, and must not control the terminal."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")
    if isinstance(value, bytes | bytearray | memoryview):
        return str(_plain(value))
    text = str(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
