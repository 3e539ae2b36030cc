"""Search for jobs, datasets, columns and runs by parts of their names."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, NamedTuple

from lineproof.serving.answers.href import dataset_href, href, job_href, run_href
from lineproof.serving.answers.model import Answer, Page
from lineproof.serving.answers.name_index import BEGINNING, EXACT, Hit, NameIndex
from lineproof.serving.answers.statement import Statement
from lineproof.serving.open_tables import TableSet

Kind = Literal["dataset", "job", "column", "run"]
KINDS: tuple[Kind, ...] = ("dataset", "job", "column", "run")
MIN_RUN_ID = 3
_LAST_CHARACTER = "\U0010ffff"


class Found(Answer):
    """One hit."""

    kind: Kind
    namespace: str
    name: str
    field: str | None
    run_id: str | None
    href: str
    detail: str
    updated_at: datetime | None


class _Named(NamedTuple):
    kind: Kind
    namespace: str
    name: str
    field: str | None
    detail: str
    updated_at: datetime | None


def search(tables: TableSet, q: str, kind: Kind | None = None, limit: int = 50) -> Page[Found]:
    """The best hits of all kinds, or of one: exact names first, then beginnings, words and parts."""
    hits: list[tuple[tuple[int, int, int, int], Found]] = []
    for number, of_kind in enumerate(KINDS[:-1]):
        if kind in (None, of_kind):
            index = tables.derived(f"names: {of_kind}", _TABLES[of_kind], _BUILD[of_kind])
            hits += [(_order(hit, number), _found(item)) for hit, item in index.find(q, limit)]
    if kind in (None, "run"):
        hits += [((rank, 0, len(KINDS), at), run) for at, (rank, run) in enumerate(_runs(tables, q.strip(), limit))]
    best = [found for _, found in sorted(hits, key=lambda hit: hit[0])[:limit]]
    return Page(items=best, sql=_statement(q.strip(), kind, limit).shown())


def _order(hit: Hit, kind: int) -> tuple[int, int, int, int]:
    return hit.rank, kind if hit.rank > EXACT else 0, hit.length, hit.entry


def _found(item: _Named) -> Found:
    if item.kind == "job":
        address = job_href(item.namespace, item.name)
    elif item.field is None:
        address = dataset_href(item.namespace, item.name)
    else:
        address = href("dataset", namespace=item.namespace, name=item.name, field=item.field)
    return Found(**item._asdict(), run_id=None, href=address)


def _jobs(tables: TableSet) -> NameIndex[_Named]:
    rows = tables.query("SELECT namespace, name, description, last_seen_at FROM jobs ORDER BY 1, 2", timeout_s=60).rows
    return NameIndex.of(
        (name, namespace, _Named("job", namespace, name, None, _line(description), at))
        for namespace, name, description, at in rows
    )


def _datasets(tables: TableSet) -> NameIndex[_Named]:
    query = "SELECT namespace, name, description, last_seen_at FROM datasets ORDER BY 1, 2"
    return NameIndex.of(
        (name, namespace, _Named("dataset", namespace, name, None, _line(description), at))
        for namespace, name, description, at in tables.query(query, timeout_s=60).rows
    )


def _columns(tables: TableSet) -> NameIndex[_Named]:
    query = "SELECT namespace, name, fields, last_seen_at FROM datasets WHERE len(fields) > 0 ORDER BY 1, 2"
    return NameIndex.of(
        (field["name"], "", _Named("column", namespace, name, field["name"], field["type"] or "", at))
        for namespace, name, fields, at in tables.query(query, timeout_s=60).rows
        for field in fields
        if field["name"]
    )


_TABLES = {"job": ("jobs",), "dataset": ("datasets",), "column": ("datasets",)}
_BUILD = {"job": _jobs, "dataset": _datasets, "column": _columns}


def _line(text: str | None) -> str:
    return " ".join((text or "").split())[:200]


def _runs(tables: TableSet, q: str, limit: int) -> Iterator[tuple[int, Found]]:
    """Runs whose id begins so. A part from the middle of an id would take a look at all of them."""
    if len(q) < MIN_RUN_ID:
        return
    rows = tables.rows(
        "SELECT run_id, job_namespace, job_name, state, last_event_at FROM runs "
        "WHERE (run_id >= ? AND run_id < ?) OR (run_id >= ? AND run_id < ?) ORDER BY run_id LIMIT ?",
        *(q, q + _LAST_CHARACTER, q.lower(), q.lower() + _LAST_CHARACTER),
        limit,
    )
    for row in rows:
        run_id = row["run_id"]
        yield (
            EXACT if run_id in (q, q.lower()) else BEGINNING,
            Found(
                kind="run",
                namespace=row["job_namespace"] or "",
                name=row["job_name"] or "",
                field=None,
                run_id=run_id,
                href=run_href(run_id),
                detail=row["state"],
                updated_at=row["last_event_at"],
            ),
        )


def _statement(q: str, kind: Kind | None, limit: int) -> Statement:
    """The same entries in SQL, which does not rank them."""
    of_kind = {
        "dataset": "SELECT 'dataset' AS kind, namespace, name, NULL AS part FROM datasets "
        "WHERE contains(lower(name), ?)",
        "job": "SELECT 'job', namespace, name, NULL FROM jobs WHERE contains(lower(name), ?)",
        "column": "SELECT 'column', namespace, name, field.name FROM "
        "(SELECT namespace, name, unnest(fields) AS field FROM datasets) WHERE contains(lower(field.name), ?)",
        "run": "SELECT 'run', job_namespace, job_name, run_id FROM runs WHERE starts_with(run_id, ?)",
    }
    chosen = [kind] if kind else [*KINDS]
    text = " UNION ALL ".join(of_kind[one] for one in chosen)
    return Statement(f"SELECT * FROM ({text}) LIMIT {limit}", tuple(q.lower() for _ in chosen))
