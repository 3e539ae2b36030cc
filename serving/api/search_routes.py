"""Route of the search."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from lineproof.serving.answers.model import Page as PageOf
from lineproof.serving.answers.search import Found, Kind, search
from lineproof.serving.api.reading import Read

router = APIRouter(tags=["search"])


@router.get("/search", response_model=PageOf[Found], summary="Jobs, datasets, columns and runs, the best hits first")
async def get_search(
    read: Read,
    q: Annotated[str, Query(max_length=2000)],
    kind: Kind | Literal["all"] = "all",
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Response:
    """Exact names, then beginnings, words and parts; run ids by their beginning."""
    return await read(lambda tables: search(tables, q, None if kind == "all" else kind, limit))
