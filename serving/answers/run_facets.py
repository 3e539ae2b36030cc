"""The facets and the events of a run."""

from datetime import datetime
from typing import Any

from lineproof.serving.answers.facets import parsed
from lineproof.serving.answers.model import Answer, Page
from lineproof.serving.answers.paging import Key, Paging, page
from lineproof.serving.answers.run_timeline import events_of
from lineproof.serving.open_tables import TableSet

MAX_EVENTS = 200
_KEYS = (Key("event_time", is_time=True), Key("event_id"))


class DatasetFacets(Answer):
    """The facets of an input or output."""

    namespace: str
    name: str
    facets: dict[str, Any]


class RunFacets(Answer):
    """All facets that the latest events of a run state; of each, the latest."""

    run: dict[str, Any]
    job: dict[str, Any]
    inputs: list[DatasetFacets]
    outputs: list[DatasetFacets]


class RunEvent(Answer):
    """An event as it was sent."""

    event_id: str
    event_time: datetime
    event_type: str | None
    event: str
    """The OpenLineage JSON, unchanged."""
    defects: list[str]


def run_facets(tables: TableSet, run_id: str) -> RunFacets | None:
    """The facets of a run; None if there is no such run."""
    run = _times(tables, run_id)
    if run is None:
        return None
    sides: dict[str, dict[tuple[str, str], dict[str, Any]]] = {"input": {}, "output": {}}
    merged: dict[str, dict[str, Any]] = {"run": {}, "job": {}}
    for row in events_of(tables, run, "event", MAX_EVENTS):
        event = parsed(row["event"])
        if not isinstance(event, dict):
            continue
        for part, facets in merged.items():
            facets.update(_facets(event.get(part), "facets"))
        for side, datasets in sides.items():
            for dataset in _objects(event.get(f"{side}s")):
                key = (str(dataset.get("namespace")), str(dataset.get("name")))
                of_dataset = datasets.setdefault(key, {})
                of_dataset.update(_facets(dataset, "facets") | _facets(dataset, f"{side}Facets"))
    inputs, outputs = (
        [DatasetFacets(namespace=key[0], name=key[1], facets=facets) for key, facets in sorted(datasets.items())]
        for datasets in sides.values()
    )
    return RunFacets(**merged, inputs=inputs, outputs=outputs)


def run_events(tables: TableSet, run_id: str, paging: Paging) -> Page[RunEvent] | None:
    """The events of a run, oldest first; None if there is no such run."""
    run = _times(tables, run_id)
    if run is None:
        return None
    found = page(
        tables,
        "SELECT event_id, event_time, event_type, event, defects FROM lineage_events "
        "WHERE run_id = ? AND event_time >= ? AND event_time <= ?",
        (run_id, run["first_event_at"], run["last_event_at"]),
        _KEYS,
        paging,
    )
    events = [RunEvent(**{**row, "defects": row["defects"] or []}) for row in found.rows]
    return Page(items=events, next_cursor=found.next_cursor, sql=found.sql)


def _times(tables: TableSet, run_id: str) -> dict[str, Any] | None:
    return tables.row("SELECT run_id, first_event_at, last_event_at FROM runs WHERE run_id = ?", run_id)


def _facets(owner: Any, member: str) -> dict[str, Any]:
    facets = owner.get(member) if isinstance(owner, dict) else None
    return facets if isinstance(facets, dict) else {}


def _objects(found: Any) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
