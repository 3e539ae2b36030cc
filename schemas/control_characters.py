r"""Characters that control a terminal or a reader instead of being shown, and how they are made visible.

Names come from producers. An escape code can clear a screen or write what looks like another line; a bidirectional
control can show a name backwards; others are invisible. All of them are written as `\x1b`, `\u202e`, `\U000e0041`.
Letters of every script, emoji and combining marks stay as they are.
"""

import re

_C0, _C1 = r"\x00-\x1f", r"\x7f-\x9f"
_INVISIBLE = (
    r"\u00ad\u061c\u180e\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f"  # separators of lines, bidirectional controls, invisible operators
    r"\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e007f"  # tags: a hidden alphabet
    r"\ud800-\udfff"  # halves of characters
)
"""Not U+200C and U+200D: scripts and emoji are written with them."""
_ALL = re.compile(f"[{_C0}{_C1}{_INVISIBLE}]")
_BUT_LINES = re.compile(rf"[\x00-\x08\x0b-\x1f{_C1}{_INVISIBLE}]")
_IN_JSON = re.compile(f"[{_C1}{_INVISIBLE}]")


def visible(text: str) -> str:
    """The text on one line, with all control characters visible."""
    return _ALL.sub(_escape, text)


def visible_lines(text: str) -> str:
    """The same, but line breaks and tabs stay."""
    return _BUT_LINES.sub(_escape, text)


def visible_json(document: str) -> str:
    """A JSON document with the same values, in which these characters are written as JSON's own escapes."""
    return _IN_JSON.sub(_escape_in_json, document)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape_in_json(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
