"""Versions of datasets: one for each run that wrote the dataset, one for each schema that came without such a run."""

from bisect import bisect_right
from datetime import datetime
from typing import Any

from lineproof.serving.answers.combinations import combinations
from lineproof.serving.api.marquez.ask import Ask, not_found
from lineproof.serving.api.marquez.dataset_index import KnownDataset
from lineproof.serving.api.marquez.datasets import (
    dataset_details,
    dataset_type,
    field_documents,
    known_dataset,
    source_name,
)
from lineproof.serving.api.marquez.job_index import RUN
from lineproof.serving.api.marquez.runs import load_version, run_document
from lineproof.serving.api.marquez.values import (
    Document,
    embedded,
    facets,
    identity,
    known_time,
    tag_names,
    version_id,
)
from lineproof.serving.open_tables import TableSet

_LOADS = f"""
SELECT job_namespace, job_name, ended_at AS at, {RUN} AS run
FROM runs
SEMI JOIN (SELECT unnest(?) AS io_id) USING (io_id)
WHERE state = 'COMPLETED'
ORDER BY ended_at DESC, run_id DESC
LIMIT ?
"""  # noqa: S608
_LOAD_COUNT = """
SELECT count(*) FROM runs SEMI JOIN (SELECT unnest(?) AS io_id) USING (io_id) WHERE state = 'COMPLETED'
"""
_WRITING = """
SELECT run_id
FROM runs
SEMI JOIN (SELECT unnest(?) AS run_id) USING (run_id)
SEMI JOIN (SELECT unnest(?) AS io_id) USING (io_id)
WHERE state = 'COMPLETED'
"""
_SCHEMAS = """
SELECT schema_hash, fields, fields_json, first_seen.event_time AS at, first_seen.run_id AS run_id
FROM dataset_schemas
SEMI JOIN (SELECT unnest(?) AS namespace, unnest(?) AS name) USING (namespace, name)
ORDER BY first_seen.event_time, schema_hash
"""


def dataset_versions(ask: Ask) -> Document:
    """`/namespaces/{ns}/datasets/{d}/versions`: the latest first."""
    known = known_dataset(ask)
    history = _History(ask.tables, known, ask.page.stop)
    return {"versions": history.documents(ask.page), "totalCount": history.count}


def one_dataset_version(ask: Ask) -> Document:
    """`/namespaces/{ns}/datasets/{d}/versions/{v}`."""
    known = known_dataset(ask)
    history = _History(ask.tables, known, None)
    wanted = ask.names[2].lower()
    for place, version in enumerate(history.versions):
        if version["version"] == wanted:
            return history.documents(slice(place, place + 1))[0]
    raise not_found(f"Version '{ask.names[2]}' of dataset '{ask.names[1]}'")


def latest_version(tables: TableSet, known: KnownDataset) -> tuple[str, str | None]:
    """The id of the latest version, and when a run last wrote the dataset."""
    history = _History(tables, known, 1)
    loaded_at = next((version["at"] for version in history.versions if version["run"]), None)
    return history.versions[0]["version"], known_time(loaded_at) if loaded_at else None


class _History:
    """The versions of a dataset, as many as are asked for."""

    def __init__(self, tables: TableSet, known: KnownDataset, wanted: int | None) -> None:
        self._tables, self._known = tables, known
        self._schemas = tables.rows(_SCHEMAS, *map(list, zip(*known.names, strict=True)))
        io_ids = combinations(tables).writing.get((known.namespace, known.name), [])
        loads = tables.rows(_LOADS, io_ids, 2**31 if wanted is None else wanted) if io_ids else []
        all_loads = len(loads) if wanted is None or len(loads) < wanted else tables.scalar(_LOAD_COUNT, io_ids)
        without_load = self._without_load(loads, io_ids if all_loads > len(loads) else [])
        self.count = max(1, all_loads + len(without_load))
        self.versions = sorted(
            [*map(self._of_load, loads), *without_load], key=lambda one: (one["at"], one["version"]), reverse=True
        ) or [self._unknown()]

    def documents(self, page: slice) -> list[Document]:
        """Some of the versions. The latest has all facets of the dataset, the others have their schema."""
        [stated] = dataset_details(self._tables, [self._known], with_facets=True)
        latest = self.versions[0]
        return [self._document(version, stated, is_latest=version is latest) for version in self.versions[page]]

    def _of_load(self, load: dict[str, Any]) -> dict[str, Any]:
        version = load_version((self._known.namespace, self._known.name), load["run"]["run_id"])
        return {"version": version, "at": load["at"], "run": load, "schema": self._schema_at(load["at"])}

    def _without_load(self, loads: list[dict[str, Any]], io_ids: list[str]) -> list[dict[str, Any]]:
        """Versions of the schemas that no load states first. With `io_ids`, there are more loads than these."""
        loaded = {load["run"]["run_id"] for load in loads}
        others = [schema for schema in self._schemas if schema["run_id"] not in loaded]
        if io_ids and others:
            runs = self._tables.query(_WRITING, [schema["run_id"] for schema in others if schema["run_id"]], io_ids)
            written = {row[0] for row in runs.rows}
            others = [schema for schema in others if schema["run_id"] not in written]
        dataset = (self._known.namespace, self._known.name)
        return [
            {
                "version": version_id("schema", *dataset, schema["schema_hash"]),
                "at": schema["at"],
                "run": None,
                "schema": schema,
            }
            for schema in others
        ]

    def _schema_at(self, moment: datetime) -> dict[str, Any] | None:
        """The latest schema that was known when a run ended."""
        at = bisect_right([schema["at"] for schema in self._schemas], moment)
        return self._schemas[at - 1] if at else next(iter(self._schemas), None)

    def _unknown(self) -> dict[str, Any]:
        """Pages stay blank without a version."""
        dataset = (self._known.namespace, self._known.name)
        at = self._known.updated_at or self._known.created_at
        return {"version": version_id("dataset", *dataset, None), "at": at, "run": None, "schema": None}

    def _document(self, version: dict[str, Any], stated: dict[str, Any], *, is_latest: bool) -> Document:
        namespace, name = self._known.namespace, self._known.name
        load, schema, tags = version["run"], version["schema"], stated.get("tags")
        fields = stated.get("fields") if is_latest or schema is None else schema["fields"]
        of_schema = {"schema": {"fields": embedded(schema["fields_json"])}} if schema else {}
        return {
            "id": {**identity(namespace, name), "version": version["version"]},
            "type": dataset_type(stated),
            "name": name,
            "physicalName": name,
            "createdAt": known_time(version["at"]),
            "version": version["version"],
            "namespace": namespace,
            "sourceName": source_name(self._known, stated),
            "fields": field_documents(fields, tags),
            "tags": tag_names(tags),
            "description": stated.get("description"),
            "lifecycleState": (stated.get("lifecycle_state") or "") if is_latest else "",
            "createdByRun": run_document(load["run"], (load["job_namespace"], load["job_name"])) if load else None,
            "facets": facets(stated.get("facets")) if is_latest else of_schema,
        }
