"""Cutting events out of files."""

import pytest

from lineproof.emit import UnreadableFile, emit_files, split
from lineproof.settings import Settings


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ('{"a": 1}', [(1, '{"a": 1}')]),
        ('{"a":\n 1}\n', [(1, '{"a":\n 1}')]),
        ('{"a": 1}\n\n{"a": 2}\r\n', [(1, '{"a": 1}'), (3, '{"a": 2}')]),
        ('[\n{"a": 1.50},\n{"a": 12345678901234567890}\n]', [(2, '{"a": 1.50}'), (3, '{"a": 12345678901234567890}')]),
        ('{"a": 1}\nnot json\n{"a": 2}', [(1, '{"a": 1}'), (2, "not json"), (3, '{"a": 2}')]),
        ('\ufeff{"a": 1}', [(1, '{"a": 1}')]),
        ("", []),
    ],
)
def test_split(text: str, events: list[tuple[int, str]]) -> None:
    assert list(split(text)) == events


def test_a_missing_file_is_named_before_anything_is_sent() -> None:
    with pytest.raises(UnreadableFile, match=r"nowhere\.json cannot be read"):
        emit_files(["nowhere.json"], Settings(), print, print)
