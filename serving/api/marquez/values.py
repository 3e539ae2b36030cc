"""Values as Marquez's clients expect them: times, ids of versions, ids of nodes, and JSON inside of JSON."""

import json
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from functools import lru_cache
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

import orjson

from lineproof.serving.lineage_graph import Node

Document = dict[str, Any]
Name = tuple[str, str]
"""Namespace and name."""

_VERSIONS = uuid.UUID("6d6b1c0e-4a40-5d0f-9a43-2f6f3a1c7b55")
"""The namespace of the UUIDs of versions (RFC 9562, version 5)."""
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def time_text(moment: datetime | None) -> str | None:
    """ISO 8601 with Z."""
    return None if moment is None else moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def known_time(*moments: datetime | None) -> str:
    """The first time that is known. Clients break without one: 1970 if there is none."""
    return str(time_text(next((moment for moment in moments if moment is not None), _EPOCH)))


@lru_cache(maxsize=100_000)
def version_id(*content: str | None) -> str:
    """The id of a version: the same for the same content, on every machine."""
    return str(uuid.uuid5(_VERSIONS, json.dumps(content)))


def identity(namespace: str, name: str) -> Document:
    """The id of a job or a dataset."""
    return {"namespace": namespace, "name": name}


def identities(nodes: Iterable[Node]) -> list[Document]:
    """The ids of nodes, in order of their names."""
    return [identity(node.namespace, node.name) for node in sorted(nodes)]


def link(url: str | None) -> str | None:
    """A URL that a page may link to and Java can parse; None for other texts."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


class Json:
    """JSON text that becomes a part of an answer as it is. No dataclass: orjson writes those by itself."""

    def __init__(self, text: str) -> None:
        self.text = text


def embedded(text: str | None) -> Json | None:
    """JSON text with its numbers and escapes as they are; None if it is not valid."""
    if text is None:
        return None
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return _repaired(text)
    return Json(text)


def _repaired(text: str) -> Json | None:
    """What Python reads and the standard does not allow: half of a character, as an escape."""
    try:
        return Json(json.dumps(json.loads(text, parse_constant=lambda _: None, parse_float=_finite)))
    except (ValueError, RecursionError):
        return None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if isfinite(number) else None


def facets(rows: Iterable[Mapping[str, Any]] | None) -> Document:
    """The facets of a column `facets`, by name."""
    stated = {row["name"]: embedded(row["facet"]) for row in rows or ()}
    return {name: facet for name, facet in stated.items() if facet is not None}


def tag_name(tag: Mapping[str, Any]) -> str:
    """A tag as one text: Marquez's tags have no values."""
    key, value = tag["key"] or "", tag["value"]
    return key if value in (None, "", "true") else f"{key}:{value}"


def tag_names(tags: Iterable[Mapping[str, Any]] | None, field: str | None = None) -> list[str]:
    """The tags of a job or dataset, or of one of its fields, each once."""
    return sorted({tag_name(tag) for tag in tags or () if (tag["field"] or None) == field})


def as_json(document: Any) -> bytes:
    """The answer in UTF-8; with escapes, if it has half of a character or a very large number."""
    try:
        return orjson.dumps(document, default=_fragment)
    except TypeError:
        return json.dumps(document, default=_parsed).encode()


def written(document: Any) -> Json:
    """A part of many answers that is written once."""
    return Json(as_json(document).decode())


def _fragment(value: Any) -> orjson.Fragment:
    if isinstance(value, Json):
        return orjson.Fragment(value.text)
    raise TypeError(type(value))


def _parsed(value: Any) -> Any:
    if isinstance(value, Json):
        return json.loads(value.text)
    raise TypeError(type(value))
