"""JSON as the job's parser reads it: with equal keys, numbers as they are written, and any value as a text."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

DEEPEST = 1000


class Number(str):
    """A JSON number, as it is written."""


class Members(list[tuple[str, Any]]):
    """The members of a JSON object, with equal keys."""


def depth(text: str) -> int:
    """How deep the brackets nest that are not in texts."""
    now = most = 0
    for bracket in re.findall(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', text, re.DOTALL):
        if bracket in "[{":
            now += 1
            most = max(most, now)
        elif bracket in "]}":
            now -= 1
    return most


def json_text(value: Any, *, escapes_surrogates: bool = True) -> str:
    """A JSON value as text, as Spark's parser gives it where the schema has a text."""
    if isinstance(value, Number):
        return _number_text(value)
    if isinstance(value, str):
        return _quoted(value, escapes_surrogates)
    if isinstance(value, Members):
        members = (
            f"{_quoted(name, escapes_surrogates)}:{json_text(member, escapes_surrogates=escapes_surrogates)}"
            for name, member in value
        )
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(json_text(member, escapes_surrogates=escapes_surrogates) for member in value) + "]"
    return json.dumps(value)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Python's parser needs a call for each level."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20 * DEEPEST)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def parsed(text: str) -> Members:
    document = json.loads(
        text, object_pairs_hook=Members, parse_int=Number, parse_float=Number, parse_constant=_refuse_constant
    )
    assert isinstance(document, Members)
    return document


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def without_equal_keys(value: Any) -> Any:
    """The value with the last one of equal keys, sorted. Spark rewrites numbers that are not 64-bit integers."""
    if isinstance(value, Members):
        names = sorted(last := dict(value), key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return Members((_replaced(name), without_equal_keys(last[name])) for name in names)
    if isinstance(value, list):
        return [without_equal_keys(member) for member in value]
    if isinstance(value, Number):
        is_exact = "e" not in value.lower() and len(re.sub(r"\D", "", value)) <= 38
        return Number(_plain(value) if is_exact else _java_double(float(value)))
    return _replaced(value) if isinstance(value, str) else value


def text_of(value: Any) -> str | None:
    """The value as text: a text itself, or the JSON of another value."""
    if value is None:
        return None
    return _replaced(value) if isinstance(value, str) and not isinstance(value, Number) else json_text(value)


def _replaced(text: str) -> str:
    """UTF-8 cannot encode half of a surrogate pair: Java writes a question mark."""
    return re.sub("[\ud800-\udfff]", "?", text)


def _quoted(text: str, escapes_surrogates: bool) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    quoted = re.sub(r"\\(?:u00..|.)", lambda match: match[0].replace(match[0][4:], match[0][4:].upper()), quoted)
    return re.sub("[\U00010000-\U0010ffff\ud800-\udfff]", _escaped, quoted) if escapes_surrogates else quoted


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2))


def _number_text(number: Number) -> str:
    return str(number) if re.fullmatch(r"-?\d+", number) else _java_double(float(number))


def _plain(number: Number) -> str:
    """A number without an exponent, and without zeros at its end."""
    return f"{Decimal(number).normalize():f}" if "." in number else str(number)


def _java_double(number: float) -> str:
    """A double as Java writes it: 1.0E15, 0.001, 1.0E-4."""
    if number in (float("inf"), float("-inf")):
        return '"Infinity"' if number > 0 else '"-Infinity"'
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return f"{Decimal(repr(number)):f}" if "." in repr(number) else f"{number:.1f}"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    first, *others = map(str, digits)
    return f"{'-' * sign}{first}.{''.join(others) or '0'}E{exponent + len(others)}"
