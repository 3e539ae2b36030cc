"""The schemas that a dataset had, each compared with the one before."""

from datetime import datetime
from typing import Any

from lineproof.serving.answers.combinations import combinations
from lineproof.serving.answers.model import Answer, Page
from lineproof.serving.answers.paging import Paging, slice_of
from lineproof.serving.answers.statement import Statement
from lineproof.serving.open_tables import TableSet

_VERSIONS = """
SELECT schema_hash, first_seen.event_time AS first_seen_at, last_seen.event_time AS last_seen_at,
    first_seen.run_id AS first_run_id, fields
FROM dataset_schemas WHERE {'namespace': namespace, 'name': name} IN ?
ORDER BY first_seen.event_time, schema_hash
"""
_SHOWN = "SELECT * FROM dataset_schemas WHERE namespace = ? AND name = ? ORDER BY first_seen.event_time, schema_hash"


class Field(Answer):
    """A column."""

    name: str | None
    type: str | None


class ChangedField(Answer):
    """A column that has another type than before."""

    name: str
    before: str | None
    after: str | None


class SchemaVersion(Answer):
    """One schema, and what is different from the one before. Nothing is in the first."""

    schema_hash: str
    first_seen_at: datetime | None
    last_seen_at: datetime | None
    first_run_id: str | None
    fields: list[Field]
    added: list[str]
    removed: list[str]
    changed: list[ChangedField]


def schemas(tables: TableSet, namespace: str, name: str, paging: Paging) -> Page[SchemaVersion]:
    """The schemas of a dataset, oldest first."""
    items, cursor = slice_of(schema_versions(tables, namespace, name), paging)
    return Page(items=items, next_cursor=cursor, sql=Statement(_SHOWN, (namespace, name)).shown())


def schema_versions(tables: TableSet, namespace: str, name: str) -> list[SchemaVersion]:
    """All schemas of a dataset under any of its names, oldest first."""
    known = combinations(tables)
    pairs = sorted(known.all_names(known.node(namespace, name)))
    rows = tables.rows(_VERSIONS, [{"namespace": one, "name": other} for one, other in pairs])
    found: list[SchemaVersion] = []
    before: dict[str, str | None] | None = None
    for row in rows:
        after = types_of(row["fields"])
        added, removed, changed = difference(before, after) if before is not None else ([], [], [])
        found.append(
            SchemaVersion(
                fields=[Field(name=one["name"], type=one["type"]) for one in row["fields"] or ()],
                added=added,
                removed=removed,
                changed=changed,
                **{column: row[column] for column in ("schema_hash", "first_seen_at", "last_seen_at", "first_run_id")},
            )
        )
        before = after
    return found


def types_of(fields: list[dict[str, Any]] | None) -> dict[str, str | None]:
    """The type of each column."""
    return {one["name"] or "": one["type"] for one in fields or ()}


def difference(
    before: dict[str, str | None], after: dict[str, str | None]
) -> tuple[list[str], list[str], list[ChangedField]]:
    """The columns that were added, removed, and changed."""
    return (
        [name for name in after if name not in before],
        [name for name in before if name not in after],
        [
            ChangedField(name=name, before=before[name], after=type_)
            for name, type_ in after.items()
            if name in before and before[name] != type_
        ],
    )
