"""How a request is answered: in a worker thread, from one state of the tables, with headers that say which.

The gateway runs on the same event loop, so no query may run there, and only a few may run at once.
"""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import anyio
from anyio import CapacityLimiter
from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from lineproof.schemas.errors import LineproofError
from lineproof.serving.answers.installation import Installation
from lineproof.serving.api.caching import cached
from lineproof.serving.api.errors import NotFound, ReadFailed
from lineproof.serving.open_tables import OpenTables, TableSet

log = logging.getLogger(__name__)

THREADS = 4
"""Queries at once. More would only share the same processors."""
STATE = "lineproof_read"
"""The attribute of `app.state` that has the `ReadService`."""
TIME_DEPENDENT_S = 10
"""An answer about now, such as what is overdue, counts as changed after so long."""


@dataclass(frozen=True)
class ReadService:
    """What the routes read, and how many of them at once."""

    tables: OpenTables
    installation: Installation
    limiter: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(THREADS))


@dataclass(frozen=True)
class Reader:
    """Answers one request."""

    request: Request
    service: ReadService
    as_of: str | None

    @property
    def installation(self) -> Installation:
        """What the server knows of its installation besides the tables."""
        return self.service.installation

    def tables_at(self, at: str) -> TableSet:
        """The tables at another time than that of the request."""
        return self.service.tables.as_of(at)

    async def __call__(self, answer: Callable[[TableSet], BaseModel | None], missing: str = "") -> Response:
        """The answer as JSON. If it is None, `missing` says what there is not."""

        def bytes_of(tables: TableSet) -> bytes:
            found = answer(tables)
            if found is None:
                raise NotFound(f"There is no {missing}.", _ADVICE)
            return as_json(found)

        return await self.send(bytes_of)

    async def send(self, make: Callable[[TableSet], bytes], media_type: str = "application/json") -> Response:
        """A response with this body, made only if the client does not have it yet."""

        def respond() -> Response:
            tables = self.service.tables.as_of(self.as_of)
            moment = "" if tables.known.at else str(time.time() // TIME_DEPENDENT_S)
            try:
                return cached(self.request, tables, moment, lambda: make(tables), media_type)
            except LineproofError:
                raise
            except Exception as error:
                log.exception("%s failed", self.request.url.path)
                raise ReadFailed(
                    f"The answer could not be made: {type(error).__name__}.",
                    "The log of the server says why; report it.",
                ) from error

        return await anyio.to_thread.run_sync(respond, limiter=self.service.limiter)


_ADVICE = "Search for it, or ask again later: jobs and datasets are read less often than runs."


def as_json(answer: BaseModel) -> bytes:
    """The answer in UTF-8; with escapes, if it has half a character, which a facet may contain."""
    try:
        return answer.model_dump_json().encode()
    except (PydanticSerializationError, UnicodeEncodeError):
        return json.dumps(answer.model_dump(mode="json")).encode()


def _reader(
    request: Request,
    as_of: Annotated[
        str | None,
        Query(description="A time (2026-01-31T10:00:00Z), or a version of the table lineage_events.", max_length=100),
    ] = None,
) -> Reader:
    return Reader(request, getattr(request.app.state, STATE), as_of)


Read = Annotated[Reader, Depends(_reader)]
