"""The routes, found by the path as it was sent."""

import logging
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import anyio
from anyio import CapacityLimiter
from fastapi import APIRouter, Request, Response
from starlette.convertors import PathConvertor, register_url_convertor

from lineproof.schemas.errors import LineproofError
from lineproof.serving.api.caching import cached
from lineproof.serving.api.marquez import (
    column_lineage,
    dataset_versions,
    datasets,
    events,
    jobs,
    lineage,
    namespaces,
    one_dataset,
    run_lineage,
    runs,
    search,
    stats,
    tags_sources,
)
from lineproof.serving.api.marquez.ask import Ask, Refusal
from lineproof.serving.api.marquez.paths import Routes, segments
from lineproof.serving.api.marquez.values import as_json
from lineproof.serving.open_tables import OpenTables, QueryTimeout, UnknownVersion

log = logging.getLogger(__name__)

Answer = Callable[[Ask], Any]

THREADS = 4
"""Queries at once. More would only share the same processors."""
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH")
NOW_S = 60
"""`/stats` is about the time of day: its answers count as changed after so long."""

_ROUTES: Routes[Answer] = Routes(
    {
        "api/v1/namespaces": namespaces.namespaces,
        "api/v1/namespaces/*": namespaces.namespace,
        "api/v1/jobs": jobs.jobs,
        "api/v1/namespaces/*/jobs": jobs.jobs,
        "api/v1/namespaces/*/jobs/*": jobs.job,
        "api/v1/namespaces/*/jobs/*/runs": runs.runs_of_job,
        "api/v1/namespaces/*/jobs/*/versions": jobs.job_versions,
        "api/v1/namespaces/*/jobs/*/versions/*": jobs.one_job_version,
        "api/v1/jobs/runs/*": runs.run,
        "api/v1/jobs/runs/*/facets": runs.facets_of_run,
        "api/v1/namespaces/*/datasets": datasets.datasets,
        "api/v1/namespaces/*/datasets/*": one_dataset.dataset,
        "api/v1/namespaces/*/datasets/*/versions": dataset_versions.dataset_versions,
        "api/v1/namespaces/*/datasets/*/versions/*": dataset_versions.one_dataset_version,
        "api/v1/lineage": lineage.lineage,
        "api/v1/column-lineage": column_lineage.column_lineage,
        "api/v1/runlineage/upstream": run_lineage.upstream,
        "api/v1/search": search.search,
        "api/v2beta/search/jobs": search.search_jobs,
        "api/v2beta/search/datasets": search.search_datasets,
        "api/v1/events": events.events,
        "api/v1/events/*": events.events,
        "api/v1/events/lineage": events.events,
        "api/v1/stats/lineage-events": stats.lineage_events,
        "api/v1/stats/jobs": stats.jobs,
        "api/v1/stats/datasets": stats.datasets,
        "api/v1/stats/sources": stats.sources,
        "api/v1/tags": tags_sources.tags,
        "api/v1/sources": tags_sources.sources,
        "api/v1/sources/*": tags_sources.source,
    }
)


class _AnyPath(PathConvertor):
    """Names may contain line breaks, at which Starlette's own `path` ends."""

    regex = "(?s:.*)"


register_url_convertor("any_path", _AnyPath())


def marquez_routes(tables: OpenTables) -> APIRouter:
    """Every path below `/api/v1` and `/api/v2beta`. Include it after the gateway, whose POST routes come first."""
    limiter = CapacityLimiter(THREADS)

    async def respond(request: Request) -> Response:
        return await anyio.to_thread.run_sync(_respond, request, tables, limiter=limiter)

    router = APIRouter()
    for path in ("/api/v1/{path:any_path}", "/api/v2beta/{path:any_path}"):
        router.add_api_route(path, respond, methods=[*METHODS], include_in_schema=False, response_model=None)
    return router


def unknown_api_paths() -> APIRouter:
    """All other paths below `/api`: 404 as JSON, where the page would answer with HTML. Include it last."""
    router = APIRouter()

    async def respond(request: Request) -> Response:
        return _refused(_unknown(request))

    router.add_api_route(
        "/api/{path:any_path}", respond, methods=[*METHODS], include_in_schema=False, response_model=None
    )
    return router


def _respond(request: Request, tables: OpenTables) -> Response:
    try:
        answer, names = _route(request)
        query = request.url.query
        parameters = parse_qs(query, keep_blank_values=True)
        plain = parse_qs(query.replace("+", "%2B"), keep_blank_values=True)
        current = tables.as_of(next(iter(parameters.get("as_of", ())), None))
        moment = str(time.time() // NOW_S) if answer.__module__ == stats.__name__ else ""
        ask = Ask(current, names, parameters, plain)
        return cached(request, current, moment, lambda: as_json(answer(ask)))
    except Refusal as refusal:
        return _refused(refusal)
    except LineproofError as error:
        return _refused(_of_lineproof(error))


def _route(request: Request) -> tuple[Answer, tuple[str, ...]]:
    raw_path = request.scope.get("raw_path") or request.url.path.encode()
    found = _ROUTES.find(segments(raw_path))
    if request.method not in ("GET", "HEAD"):
        raise Refusal(
            405,
            f"{request.method} is not supported here.",
            "Lineage is changed by OpenLineage events alone: send them to POST /api/v1/lineage.",
        )
    if found is None:
        raise _unknown(request)
    return found


def _unknown(request: Request) -> Refusal:
    return Refusal(404, f"There is no {request.url.path[:200]}.", "docs/marquez.md lists the routes of Marquez.")


def _of_lineproof(error: LineproofError) -> Refusal:
    status = 503 if isinstance(error, QueryTimeout) else 400 if isinstance(error, UnknownVersion) else 500
    if status == 500:
        log.error("%s", error.what)
    return Refusal(status, error.what, error.remedy)


def _refused(refusal: Refusal) -> Response:
    """Marquez's form of an error."""
    document = {"code": refusal.status, "message": refusal.message, "details": refusal.details}
    headers = {"Allow": "GET, HEAD"} if refusal.status == 405 else {}
    return Response(as_json(document), refusal.status, headers, "application/json")
