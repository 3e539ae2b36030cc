"""Print results: data on stdout, everything else on stderr. Nothing that is printed can control the terminal."""

import base64
import csv
import io
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from rich.cells import cell_len
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from lineproof.cli.console import SafeConsole
from lineproof.schemas.control_characters import visible, visible_json, visible_lines

out = SafeConsole(soft_wrap=True)
err = SafeConsole(stderr=True, highlight=False, soft_wrap=True)


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
        _write_csv(columns)
        for row in rows:
            _write_csv(row)
    else:
        _print_table(columns, list(rows))


def _print_json(documents: Iterable[dict[str, Any]]) -> None:
    """Print a JSON array as `json.dumps` with an indent of 2 does, one document at a time."""
    separator = "["
    for document in documents:
        text = _json(document, indent=2)
        print(separator, text.replace("\n", "\n  "), sep="\n  ", end="")
        separator = ","
    print("[]" if separator == "[" else "\n]")


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    table = Table(header_style="bold", box=None, pad_edge=False)
    for number, name in enumerate(columns):
        is_number = bool(rows) and all(isinstance(row[number], int | float | Decimal) for row in rows)
        table.add_column(Text(visible(name)), justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    SafeConsole(width=None if sys.stdout.isatty() else 200).print(table)


class Lines:
    """Print rows on stdout as they arrive, without knowing how many there will be or how wide."""

    def __init__(self, columns: Sequence[str], form: Format) -> None:
        self._columns = columns
        self._form = form
        self._widths: list[int] = []

    def print(self, row: Sequence[Any]) -> None:
        """Print a row; before the first row, the column names."""
        if self._form is Format.CSV:
            if not self._widths:
                self._widths = [0]
                _write_csv(self._columns)
            _write_csv(row)
        else:
            cells = list(map(_cell, row))
            if not self._widths:
                self._widths = [max(map(cell_len, pair)) for pair in zip(self._columns, cells, strict=True)]
                print(self._aligned(self._columns))
            print(self._aligned(cells))
        sys.stdout.flush()

    def _aligned(self, cells: Sequence[str]) -> str:
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, self._widths, strict=True))
        return "  ".join(padded).rstrip()


def print_line(document: Any) -> None:
    """Print a JSON object on one line, and flush."""
    print(_json(document), flush=True)


def print_exact(text: str) -> None:
    """Print a text for programs: unchanged, but on a terminal with control characters visible."""
    print(visible_lines(text) if sys.stdout.isatty() else text)


def print_bytes(value: bytes) -> None:
    """Write bytes for programs to stdout: unchanged, but on a terminal as text with control characters visible."""
    if sys.stdout.isatty():
        print(visible_lines(value.decode(errors="backslashreplace")))
    else:
        sys.stdout.buffer.write(value)


def progress(counted: ProgressColumn | None = None) -> Progress:
    """A progress bar with the remaining time, on stderr if that is a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        counted or MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
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


def _write_csv(row: Sequence[Any]) -> None:
    """Programs get every character as it is; a terminal gets control characters as `_text` writes them."""
    cells = [_csv_cell(value) for value in row]
    if sys.stdout.isatty():
        cells = [visible(cell) if isinstance(cell, str) else cell for cell in cells]
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(cells)  # so that a carriage return in a cell is quoted
    sys.stdout.write(line.getvalue().removesuffix("\r\n") + "\n")


def _json(document: Any, indent: int | None = None) -> str:
    return visible_json(json.dumps(document, default=_plain, ensure_ascii=False, indent=indent))


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
        return visible(_json(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return _text(value)


def _text(value: Any) -> str:
    """Escape control characters: names come from producers, and must not control the terminal."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")
    if isinstance(value, bytes | bytearray | memoryview):
        return str(_plain(value))
    return visible(str(value))
