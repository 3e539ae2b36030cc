"""What is made visible, and that JSON keeps its values."""

import json
import unicodedata

import pytest

from lineproof.schemas.control_characters import visible, visible_json, visible_lines

KEPT_CONTROLS = {"\u200c", "\u200d"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("\x00\r\x7f\x9b", "\\x00\\x0d\\x7f\\x9b"),
        ("\u202egpj.exe\u2066\u200f", "\\u202egpj.exe\\u2066\\u200f"),
        ("a\u2028b\u0085c\ufeff\u200b", "a\\u2028b\\x85c\\ufeff\\u200b"),
        ("\U000e0041\ud800", "\\U000e0041\\ud800"),
        ("a\nb\tc", "a\\x0ab\\x09c"),
    ],
)
def test_control_characters_are_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        *(":x:", "[bold]b[/]", "\\", "<script>alert(1)</script>", "'\"`", "a/b%2F:c", "x" * 2000),
        *("שלום مرحبا", "می‌خواهم", "日本語", "e\u0301", "😀", "👩‍👩‍👧", "❤️", "\u00a0", "\u3000", "\U0001d4b3"),
    ],
)
def test_names_stay_as_they_are(text: str) -> None:
    assert visible(text) == visible_lines(text) == visible_json(text) == text


def test_lines_and_tabs_can_stay() -> None:
    assert visible_lines("a\nb\tc\r\x1b") == "a\nb\tc\\x0d\\x1b"


def test_every_control_of_unicode_is_covered() -> None:
    """Also those that a later version of Python knows: U+0600 and the like are signs that are seen."""
    for code in range(0x110000):
        character = chr(code)
        is_bidirectional = unicodedata.bidirectional(character) in {
            *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        }
        if unicodedata.category(character) in ("Cc", "Zl", "Zp", "Cs") or is_bidirectional:
            assert visible(character) != character, hex(code)
        assert visible(character).isascii() or visible(character) == character


def test_json_has_the_same_values() -> None:
    value = {"a\x7f": ["\x9b\u202e\U000e0041\ud800\n\x1b", "é😀👩‍👩‍👧"]}
    document = json.dumps(value, ensure_ascii=False, indent=2)
    shown = visible_json(document)
    assert json.loads(shown) == value
    assert visible_lines(shown) == shown
    assert "é😀👩‍👩‍👧" in shown
