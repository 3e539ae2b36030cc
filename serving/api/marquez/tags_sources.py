"""Tags and sources: Marquez keeps lists of them, here they are those that datasets and jobs state."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from lineproof.serving.api.marquez.ask import Ask, not_found
from lineproof.serving.api.marquez.values import Document, known_time, tag_name
from lineproof.serving.open_tables import TableSet

_TAGS = """
SELECT DISTINCT tag.key AS key, tag.value AS value
FROM (
    SELECT unnest(tags) AS tag FROM datasets WHERE tags IS NOT NULL
    UNION ALL
    SELECT unnest(tags) FROM jobs WHERE tags IS NOT NULL
)
"""
# As in `datasets.source_name`: the name in the facet, or the namespace.
_SOURCES = """
SELECT
    coalesce(nullif(stated, ''), namespace) AS source,
    min(source_uri),
    min(first_seen_at),
    max(greatest(first_seen_at, last_seen_at))
FROM (
    SELECT
        CASE WHEN json_valid(facet) AND json_type(facet, '$.name') = 'VARCHAR' THEN json_extract_string(facet, '$.name')
        END AS stated,
        namespace, source_uri, first_seen_at, last_seen_at
    FROM (
        SELECT
            list_filter(facets, lambda one: one.name = 'dataSource')[1].facet AS facet,
            namespace, source_uri, first_seen_at, last_seen_at
        FROM datasets
    )
)
GROUP BY source
ORDER BY source
"""


@dataclass(frozen=True)
class KnownSource:
    """Where datasets are."""

    name: str
    uri: str | None
    created_at: datetime | None
    updated_at: datetime | None


def source_index(tables: TableSet) -> dict[str, KnownSource]:
    """The sources of these tables by name, kept until the datasets change."""
    return tables.derived(
        "marquez sources",
        ("datasets",),
        lambda current: {row[0]: KnownSource(*row) for row in current.query(_SOURCES, timeout_s=60).rows},
    )


def _tag_list(tables: TableSet) -> list[str]:
    stated = tables.derived("marquez tags", ("datasets", "jobs"), lambda current: current.rows(_TAGS))
    return sorted({tag_name(tag) for tag in stated})


def tags(ask: Ask) -> Document:
    """`/tags`."""
    return {"tags": [{"name": name, "description": ""} for name in _tag_list(ask.tables)[ask.page]]}


def sources(ask: Ask) -> Document:
    """`/sources`."""
    known = [*source_index(ask.tables).values()]
    return {"sources": [_document(source) for source in known[ask.page]]}


def source(ask: Ask) -> Document:
    """`/sources/{s}`."""
    found = source_index(ask.tables).get(ask.names[0])
    if found is None:
        raise not_found(f"Source '{ask.names[0]}'")
    return _document(found)


def _document(source: KnownSource) -> Document:
    uri = source.uri or source.name
    return {
        "type": _type(uri),
        "name": source.name,
        "createdAt": known_time(source.created_at),
        "updatedAt": known_time(source.updated_at, source.created_at),
        "connectionUrl": uri,
        "description": "",
    }


def _type(uri: str) -> str:
    """The kind of the source, from its scheme: POSTGRES of postgres://…"""
    try:
        return urlsplit(uri.removeprefix("jdbc:")).scheme.upper() or "UNKNOWN"
    except ValueError:
        return "UNKNOWN"
