"""Facets, which are any JSON."""

import json
from collections.abc import Iterable
from typing import Any

MAX_DEPTH = 100
"""JSON that nests deeper is answered as text: parsers of readers may not take it."""


def parsed(text: str | None) -> Any:
    """The value of a JSON text."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if _is_shallow(value) else text


def of_column(facets: Iterable[dict[str, Any]] | None) -> dict[str, Any]:
    """The facets of a job or a dataset by name, from the column `facets`."""
    return {one["name"]: parsed(one["facet"]) for one in facets or ()}


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return True
    return False
