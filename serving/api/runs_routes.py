"""Routes of runs."""

from typing import Literal

from fastapi import APIRouter, Response

from lineproof.serving.answers.model import Page as PageOf
from lineproof.serving.answers.model import Trust
from lineproof.serving.answers.run import Run, run
from lineproof.serving.answers.run_facets import RunEvent, RunFacets, run_events, run_facets
from lineproof.serving.answers.runs import RunFilter, RunSummary, runs
from lineproof.serving.api.parameters import OptionalText, Page, Time
from lineproof.serving.api.reading import Read

router = APIRouter(tags=["runs"])

State = Literal["NEW", "RUNNING", "COMPLETED", "ABORTED", "FAILED"]


@router.get("/runs", response_model=PageOf[RunSummary], summary="Runs, the newest first")
async def list_runs(
    read: Read,
    paging: Page,
    namespace: OptionalText = None,
    name: OptionalText = None,
    state: State | None = None,
    verdict: OptionalText = None,
    trust: Trust | None = None,
    since: Time | None = None,
    until: Time | None = None,
    q: OptionalText = None,
) -> Response:
    """`verdict` is of the ledger or the certificate; `q` is a part of the run id or of the job's name."""
    wanted = RunFilter(namespace, name, state, verdict, trust, since, until, q)
    return await read(lambda tables: runs(tables, wanted, paging))


# The id is the rest of the path, because a run id that is no UUID may have slashes. So longer paths come first.
@router.get("/runs/{run_id:path}/facets", response_model=RunFacets, summary="The facets of a run")
async def get_facets(read: Read, run_id: str) -> Response:
    """Of each facet, the latest."""
    return await read(lambda tables: run_facets(tables, run_id), f"run {run_id[:100]}")


@router.get("/runs/{run_id:path}/events", response_model=PageOf[RunEvent], summary="The events of a run")
async def get_events(read: Read, paging: Page, run_id: str) -> Response:
    """Oldest first, unchanged."""
    return await read(lambda tables: run_events(tables, run_id, paging), f"run {run_id[:100]}")


@router.get("/runs/{run_id:path}", response_model=Run, summary="A run: timeline, intent, logic and proof")
async def get_run(read: Read, run_id: str) -> Response:
    """The timeline has the latest events."""
    return await read(lambda tables: run(tables, run_id), f"run {run_id[:100]}")
