"""The table `quality_results`, as a fold."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from typing import Any

from tests.model.events import Event, Row, events

WORDS = {"pass": True, "passed": True, "success": True, "ok": True} | dict.fromkeys(
    ("fail", "failed", "failure", "error"), False
)


def quality_results(values: Iterable[bytes]) -> list[Row]:
    """All results of all distinct events, in any order."""
    distinct = {event.event_id: event for event in events(values)}
    return [
        {
            "event_id": event.event_id,
            "event_time": event.time,
            "run_id": event.run_id,
            "job_namespace": event.job[0] if event.job else None,
            "job_name": event.job[1] if event.job else None,
            "namespace": dataset.get("namespace"),
            "name": dataset.get("name"),
            **_result(result),
        }
        for event in distinct.values()
        for dataset, results in _stated(event)
        for result in results
    ]


def _stated(event: Event) -> Iterator[tuple[Row, list[Row]]]:
    document = event.document
    yield {}, document.get("run", {}).get("facets", {}).get("test", {}).get("tests", [])
    datasets = [document.get("dataset", {}), *document.get("inputs", []), *document.get("outputs", [])]
    for dataset in datasets:
        own, of_input = (dataset.get(name, {}).get("dataQualityAssertions", {}) for name in ("facets", "inputFacets"))
        yield dataset, own.get("assertions", [])
        if of_input != own:
            yield dataset, of_input.get("assertions", [])


def _result(result: Row) -> Row:
    params: dict[str, Any] = result.get("params") or {}
    success = result.get("success", WORDS.get(str(result.get("status")).lower()))
    return {
        "expectation": result.get("assertion") or result.get("type") or result.get("name"),
        "success": success,
        **{name: result.get(name) for name in ("column", "severity", "expected")},
        "observed": result.get("actual"),
        "suite": params.get("suite"),
        "unexpected_count": params.get("unexpectedCount"),
        "unexpected_share": params.get("unexpectedShare"),
        "samples": params.get("samples"),
        "error": params.get("error"),
        "duration_ms": params.get("durationMs"),
        "since": datetime.fromisoformat(params["since"]).astimezone(timezone.utc) if "since" in params else None,
    }
