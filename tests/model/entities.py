"""The expected rows of `jobs`, `datasets` and `dataset_schemas`."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from tests.model.events import Event, Row, events

Name = tuple[str, str]


def jobs(values: Iterable[bytes]) -> dict[Name, Row]:
    """Rows by namespace and name."""
    return {key: _job(row) for key, row in _entities(values, lambda role: role == "JOB").items()}


def datasets(values: Iterable[bytes]) -> dict[Name, Row]:
    """Rows by namespace and name."""
    return {key: _dataset(row) for key, row in _entities(values, lambda role: role != "JOB").items()}


def dataset_schemas(values: Iterable[bytes]) -> dict[tuple[str, str, str], Row]:
    """Rows by namespace, name and hash."""
    rows: dict[tuple[str, str, str], Row] = {}
    for event, role, entity in observations(values):
        fields = entity.get("facets", {}).get("schema", {}).get("fields")
        if role == "JOB" or fields is None:
            continue
        text = compact(fields)
        digest = hashlib.sha256(text.encode()).hexdigest()
        seen = {"event_time": event.time, "event_id": event.event_id, "run_id": event.run_id}
        row = rows.setdefault(
            (entity["namespace"], entity["name"], digest),
            {
                "namespace": entity["namespace"],
                "name": entity["name"],
                "schema_hash": digest,
                "fields": _typed(fields, "name", "type", "description"),
                "fields_json": text,
                "first_seen": seen,
            },
        )
        row["last_seen"] = seen
    return rows


def observations(values: Iterable[bytes]) -> Iterator[tuple[Event, str, Row]]:
    """Every job and dataset that an event names, in the order of the events."""
    for event in events(values):
        if "job" in event.document:
            yield event, "JOB", event.document["job"]
        if "dataset" in event.document:
            yield event, "DATASET", event.document["dataset"]
        for role in ("inputs", "outputs"):
            for dataset in event.document.get(role, []):
                yield event, role.removesuffix("s").upper(), dataset


def hour(time: datetime) -> datetime:
    """The beginning of its hour."""
    return time.replace(minute=0, second=0, microsecond=0)


def compact(value: Any) -> str:
    """JSON without white space."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _entities(values: Iterable[bytes], wanted: Any) -> dict[Name, Row]:
    found: dict[Name, list[tuple[Event, Row]]] = defaultdict(list)
    for event, role, entity in observations(values):
        if wanted(role):
            tests = {
                name: facet
                for name, facet in entity.get("inputFacets", {}).items()
                if name in ("dataQualityAssertions", "dataQualityMetrics")
            }
            found[entity["namespace"], entity["name"]].append((event, {**entity.get("facets", {}), **tests}))
    return {key: _entity(key, seen) for key, seen in found.items()}


def _entity(key: Name, seen: list[tuple[Event, Row]]) -> Row:
    latest: dict[str, tuple[Any, ...]] = {}
    for event, facets in seen:
        for name, facet in facets.items():
            version = (*event.version, compact(facet))
            latest[name] = max(version, latest.get(name, version))
    return {
        "namespace": key[0],
        "name": key[1],
        "facets": [
            {"name": name, "event_time": time, "event_id": event_id, "facet": text}
            for name, (time, event_id, text) in sorted(latest.items())
        ],
        "first_seen_at": seen[0][0].time,
        "last_seen_at": hour(seen[-1][0].time),
    }


def _live(row: Row, name: str) -> Row:
    """The facet; empty if there is none or it was deleted."""
    facet: Row = next((json.loads(found["facet"]) for found in row["facets"] if found["name"] == name), {})
    return {} if facet.get("_deleted") else facet


def _described(row: Row) -> Row:
    return {
        **row,
        "description": _live(row, "documentation").get("description"),
        "owners": _typed(_live(row, "ownership").get("owners"), "name", "type"),
        "tags": _typed(_live(row, "tags").get("tags"), "key", "value", "source", "field"),
    }


def _job(row: Row) -> Row:
    kind, sla = _live(row, "jobType"), _live(row, "lineproof_sla")
    minutes = sla.get("maxDurationMinutes")
    return {
        **_described(row),
        "processing_type": kind.get("processingType"),
        "integration": kind.get("integration"),
        "job_type": kind.get("jobType"),
        "sql": _live(row, "sql").get("query"),
        "source_code_url": _live(row, "sourceCodeLocation").get("url"),
        "freshness_minutes": sla.get("freshnessMinutes"),
        "max_duration_ms": minutes and int(minutes * 60_000),
    }


def _dataset(row: Row) -> Row:
    described = _described(row)
    tags = {tag["key"]: tag["value"] for tag in reversed(described["tags"] or []) if tag["field"] is None}
    return {
        **described,
        "fields": _typed(_live(row, "schema").get("fields"), "name", "type", "description"),
        "symlinks": _typed(_live(row, "symlinks").get("identifiers"), "namespace", "name", "type"),
        "dataset_type": _live(row, "datasetType").get("datasetType"),
        "source_uri": _live(row, "dataSource").get("uri"),
        "version": _live(row, "version").get("datasetVersion"),
        "lifecycle_state": _live(row, "lifecycleStateChange").get("lifecycleStateChange"),
        "gdpr_category": tags.get("gdpr_category"),
        "residency": tags.get("residency"),
        "quality_score": _live(row, "lineproof_qualityMetrics").get("score"),
        "tests": _typed(_live(row, "dataQualityAssertions").get("assertions"), "assertion", "success", "column"),
    }


def _typed(members: list[Row] | None, *names: str) -> list[Row] | None:
    return None if members is None else [{name: member.get(name) for name in names} for member in members]
