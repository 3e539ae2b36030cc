"""Errors as JSON that says what to do."""

import logging
from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from fastapi.exception_handlers import http_exception_handler, request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response

from lineproof.schemas.errors import LineproofError
from lineproof.serving.answers.paging import InvalidCursor
from lineproof.serving.open_tables import QueryTimeout, UnknownVersion

log = logging.getLogger(__name__)

PREFIX = "/api/lineproof"


class NotFound(LineproofError):
    """There is no such run, job or dataset."""


class ReadFailed(LineproofError):
    """A fault of lineproof itself."""


STATUS: dict[type[LineproofError], tuple[int, str]] = {
    QueryTimeout: (503, "query_timeout"),
    UnknownVersion: (400, "unknown_version"),
    InvalidCursor: (400, "invalid_cursor"),
    NotFound: (404, "not_found"),
}
"""Status and code. Other errors of lineproof, such as tables that cannot be read, have 500."""


def refused(status: int, code: str, message: str, advice: str) -> JSONResponse:
    """An error."""
    return JSONResponse({"error": code, "message": message, "advice": advice}, status)


def add_error_handlers(app: FastAPI) -> None:
    """Errors of the read side as JSON. Other parts of the server keep their own."""
    app.add_exception_handler(LineproofError, _of_lineproof)
    app.add_exception_handler(RequestValidationError, _only_here(_invalid, request_validation_exception_handler))
    app.add_exception_handler(HTTPException, _only_here(_of_http, http_exception_handler))


def _of_lineproof(request: Request, error: Exception) -> Response:
    assert isinstance(error, LineproofError)  # noqa: S101
    status, code = STATUS.get(type(error), (500, "failed"))
    if status == 500:
        log.error("%s: %s", request.url.path, error.what)
    return refused(status, code, error.what, error.remedy)


def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    return refused(400, "invalid_parameter", f"{where}: {first['msg']}.", "The parameters are in /openapi.json.")


def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "failed")
    return refused(error.status_code, code, f"{error.detail}: {request.url.path[:200]}", "See /docs.")


def _only_here(
    ours: Callable[[Request, Exception], Response], other: Callable[..., Awaitable[Response]]
) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(request: Request, error: Exception) -> Response:
        return ours(request, error) if request.url.path.startswith(PREFIX) else await other(request, error)

    return handle
