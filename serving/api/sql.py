"""SQL over HTTP: one SELECT, for keys with the role admin. It runs in a process of its own (`serving/sandbox/`)."""

import json
import threading
from typing import Any

import anyio
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, ValidationError

from lineproof.schemas.errors import LineproofError
from lineproof.serving.api.errors import refused
from lineproof.serving.api.reading import STATE
from lineproof.serving.open_tables import OpenTables, QueryTimeout, UnknownVersion
from lineproof.serving.sandbox.answer import MAX_ROWS
from lineproof.serving.sandbox.processes import SqlProcesses, TooManyQueries
from lineproof.serving.sandbox.select_check import MAX_CHARACTERS, NotASelect
from lineproof.serving.sql import QueryError

MAX_BODY_BYTES = 16 * MAX_CHARACTERS
BODY_S = 10.0
"""How long a body may take to arrive."""
_PROCESSES = "lineproof_sql"
_STARTING = threading.Lock()

_STATUS: dict[type[LineproofError], tuple[int, str]] = {
    NotASelect: (400, "not_a_select"),
    QueryError: (400, "query_failed"),
    UnknownVersion: (400, "unknown_version"),
    QueryTimeout: (503, "query_timeout"),
    TooManyQueries: (503, "too_many_queries"),
}


class SqlRequest(BaseModel):
    """A query."""

    sql: str = Field(max_length=MAX_CHARACTERS, description="One SELECT over the tables, views and functions.")
    limit: int = Field(1000, ge=1, le=MAX_ROWS, description="Rows at most.")
    as_of: str | None = Field(None, max_length=100, description="A time, or a version of the table lineage_events.")


class SqlColumn(BaseModel):
    """A column of the result."""

    name: str
    type: str
    """As DuckDB names it."""


class SqlAnswer(BaseModel):
    """The rows. What a JSON number cannot hold exactly is text."""

    columns: list[SqlColumn]
    rows: list[list[Any]]
    truncated: bool
    """Whether there are more rows than the limit, or than 8 MiB."""
    cut_values: int
    """How many values are longer than `longest_value` characters, and end with … there. Fewer rows can be longer."""
    longest_value: int
    note: str | None
    """Why there are no rows, if a table is not there yet."""
    known: dict[str, str | None]
    versions: dict[str, int]


router = APIRouter(tags=["sql"])


@router.post(
    "/sql",
    response_model=SqlAnswer,
    summary="The rows of one SELECT (role admin)",
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": SqlRequest.model_json_schema()}}}
    },
)
async def post_sql(request: Request) -> Response:
    """Read-only, 10 s, 1 GB, up to 10,000 rows; no files, no settings. The guard has checked the role."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return refused(415, "no_json", "The body is not application/json.", "Send JSON with its Content-Type.")
    try:
        with anyio.fail_after(BODY_S):
            body = await _body(request)
    except TimeoutError:
        return refused(408, "too_slow", f"The body did not arrive within {BODY_S:g} s.", "Send it in one piece.")
    if body is None:
        return refused(413, "too_large", f"The body has more than {MAX_BODY_BYTES:,} bytes.", "Send a shorter query.")
    try:
        asked = SqlRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "body"
        return refused(400, "invalid_parameter", f"{where}: {first['msg']}.", "Send {sql, limit, as_of} as JSON.")
    processes = processes_of(request.app.state, getattr(request.app.state, STATE).tables)

    def answered() -> tuple[bytes, str]:
        answer = processes.run(asked.sql, asked.limit, asked.as_of)
        return json.dumps(answer).encode(), json.dumps(answer["known"])

    try:
        answer, known = await anyio.to_thread.run_sync(answered)
    except LineproofError as error:
        status, code = _STATUS.get(type(error), (500, "failed"))
        return refused(status, code, error.what, error.remedy)
    headers = {"Cache-Control": "no-store", "Lineproof-Known": known}
    return Response(answer, headers=headers, media_type="application/json")


def processes_of(state: Any, tables: OpenTables) -> SqlProcesses:
    """The workers of this application, made when the first query comes."""
    with _STARTING:
        if not hasattr(state, _PROCESSES):
            setattr(state, _PROCESSES, SqlProcesses(tables.location, tables.spill))
        found: SqlProcesses = getattr(state, _PROCESSES)
        return found


async def _body(request: Request) -> bytes | None:
    """The body; None if it is larger than allowed."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)
