"""The output formats."""

import csv
import io
import json
from collections.abc import Iterator
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from lineproof.cli.output import Format, show
from lineproof.schemas.control_characters import visible_json

COLUMNS = ["text", "number", "time", "bytes", "list", "nothing", "flag"]
ROW = [
    'quote " <script>\nnew\x1b[31mline',
    Decimal(25),
    datetime(2026, 1, 31, 10, 0, 0, 123456, tzinfo=timezone.utc),
    b"\x00\xff",
    [{"a": 1}],
    None,
    True,
]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    show(COLUMNS, [ROW], Format.JSON)
    assert json.loads(capsys.readouterr().out) == [
        {
            "text": ROW[0],
            "number": 25,
            "time": "2026-01-31T10:00:00.123456+00:00",
            "bytes": "AP8=",
            "list": [{"a": 1}],
            "nothing": None,
            "flag": True,
        }
    ]


def test_json_is_printed_row_by_row(capsys: pytest.CaptureFixture[str]) -> None:
    """The same text as for the whole array, before the next row is read."""
    documents = [{"a": 1, "b": [{"c": "line\n\u2028\x85"}]}, {"a": 2, "b": []}]
    printed = ""

    def rows() -> Iterator[tuple[Any, ...]]:
        nonlocal printed
        for number, document in enumerate(documents):
            printed += capsys.readouterr().out
            assert printed.count('"a"') == number
            yield tuple(document.values())

    show(["a", "b"], rows(), Format.JSON)
    printed += capsys.readouterr().out
    assert printed == visible_json(json.dumps(documents, indent=2, ensure_ascii=False)) + "\n"
    assert json.loads(printed) == documents
    show(["a"], [], Format.JSON)
    assert capsys.readouterr().out == "[]\n"


def test_csv(capsys: pytest.CaptureFixture[str]) -> None:
    show(COLUMNS, [ROW], Format.CSV)
    header, row = csv.reader(io.StringIO(capsys.readouterr().out))
    assert header == COLUMNS
    assert row == [ROW[0], "25", "2026-01-31T10:00:00.123456+00:00", "AP8=", '[{"a": 1}]', "", "true"]


def test_no_control_character_reaches_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show(COLUMNS, [ROW])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\\x1b[31mline" in shown
