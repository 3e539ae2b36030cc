"""Routes of what is right and wrong: overview, violations, freshness, coverage."""

from fastapi import APIRouter, Response

from lineproof.serving.answers.coverage import Coverage, coverage
from lineproof.serving.answers.freshness import DatasetFreshness, freshness
from lineproof.serving.answers.freshness import Verdict as FreshnessVerdict
from lineproof.serving.answers.model import Page as PageOf
from lineproof.serving.answers.overview import Overview, overview
from lineproof.serving.answers.violations import Kind, Stands, Violation, violations
from lineproof.serving.api.parameters import Page
from lineproof.serving.api.reading import Read

router = APIRouter(tags=["trust"])


@router.get("/overview", response_model=Overview, summary="Whether the lineage can be trusted right now")
async def get_overview(read: Read) -> Response:
    """Each number has the SQL that gives it."""
    return await read(lambda tables: overview(tables, read.installation))


@router.get("/violations", response_model=PageOf[Violation], summary="What is wrong or was, the newest first")
async def list_violations(read: Read, paging: Page, kind: Kind | None = None, stands: Stands = "true") -> Response:
    """With what to do about it."""
    return await read(lambda tables: violations(tables, kind, stands, paging))


@router.get("/freshness", response_model=PageOf[DatasetFreshness], summary="Late datasets first")
async def list_freshness(read: Read, paging: Page, verdict: FreshnessVerdict | None = None) -> Response:
    """Without a limit, or while events may be missing, a dataset is neither fresh nor late."""
    return await read(lambda tables: freshness(tables, verdict, paging, read.installation))


@router.get("/coverage", response_model=Coverage, summary="Which critical pipelines emit lineage")
async def get_coverage(read: Read) -> Response:
    """`of` is null if no list is configured."""
    return await read(lambda tables: coverage(tables, read.installation))
