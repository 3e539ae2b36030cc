"""Parameters that several routes have."""

from datetime import datetime, timezone
from typing import Annotated

from fastapi import Depends, Query
from pydantic import AfterValidator

from lineproof.serving.answers.paging import DEFAULT_LIMIT, MAX_LIMIT, Paging

Text = Annotated[str, Query(max_length=20_000)]
OptionalText = Annotated[str | None, Query(max_length=20_000)]


def _in_utc(at: datetime) -> datetime:
    return at.astimezone(timezone.utc) if at.tzinfo else at.replace(tzinfo=timezone.utc)


Time = Annotated[datetime, AfterValidator(_in_utc)]
"""A time without a zone is in UTC."""


def _paging(
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT,
    cursor: Annotated[str | None, Query(max_length=100_000, description="next_cursor of the page before")] = None,
) -> Paging:
    return Paging(limit, cursor)


Page = Annotated[Paging, Depends(_paging)]
