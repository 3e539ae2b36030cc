"""Answers that fit into the context of an assistant: what is left out is said, never silent."""

import json
from typing import Any

from lineproof.schemas.control_characters import visible_json

MAX_CHARACTERS = 60_000
_STEPS = ((1000, 20_000), (100, 4_000), (50, 1_000), (20, 300), (5, 300), (1, 100))
"""The longest lists and texts, until the answer fits."""
_NAMES = frozenset({"namespace", "name", "field", "run_id", "job", "dataset", "column", "id", "reason", "sql"})
"""Whole names: half of one would name nothing."""
_NOT_FOR_READERS = frozenset({"x", "y", "width", "height", "points", "layer", "header", "row", "href"})
"""Where something is drawn on the page."""


def as_text(answer: dict[str, Any]) -> str:
    """The answer as JSON with invisible characters escaped. `left_out` says what is not in it."""
    text = ""
    for items, characters in _STEPS:
        left_out: list[str] = []
        shortened = _shortened(answer, items, characters, "", left_out)
        text = _json({**shortened, "left_out": [*answer.get("left_out", ()), *left_out[:20]]})
        if len(text) <= MAX_CHARACTERS:
            return text
    what = f"The answer has more than {MAX_CHARACTERS:,} characters. Ask for less."
    text = _json({"trust": answer.get("trust"), "based_on": answer.get("based_on"), "left_out": [what]})
    return text if len(text) <= MAX_CHARACTERS else _json({"left_out": [what]})


def without_drawing(value: Any) -> Any:
    """An answer of the page without where things are drawn. Facets, which can have any size, by name only."""
    if isinstance(value, dict):
        return {
            name: sorted(member) if name == "facets" and isinstance(member, dict) else without_drawing(member)
            for name, member in value.items()
            if name not in _NOT_FOR_READERS
        }
    if isinstance(value, list):
        return [without_drawing(one) for one in value]
    return value


def _shortened(value: Any, items: int, characters: int, where: str, left_out: list[str]) -> Any:
    if isinstance(value, dict):
        kept = [*value.items()] if where in ("", "answer") else [*value.items()][: max(items, 20)]
        if len(kept) < len(value):
            left_out.append(f"{where}: {len(kept)} of {len(value)} members")
        return {
            name: member
            if name in _NAMES and isinstance(member, str) and characters > _STEPS[-1][1]
            else _shortened(member, items, characters, f"{where}.{name}".lstrip("."), left_out)
            for name, member in kept
        }
    if isinstance(value, list):
        if len(value) > items:
            left_out.append(f"{where}: {items} of {len(value)} items")
        return [_shortened(one, items, characters, where, left_out) for one in value[:items]]
    if isinstance(value, str) and len(value) > characters:
        left_out.append(f"{where}: {characters} of {len(value)} characters")
        return f"{value[:characters]}…"
    return value


def _json(document: dict[str, Any]) -> str:
    return visible_json(json.dumps(document, ensure_ascii=False))
