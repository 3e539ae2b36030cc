"""/docs: a page of our own that shows /openapi.json. It asks no other host, and has the policy of `serving/web`.

It is not below /api, because a browser that opens a page sends no key, and the page has nothing of the tables.
"""

from importlib.resources import files
from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_TYPES = {"docs.css": "text/css", "docs.js": "text/javascript"}

router = APIRouter(include_in_schema=False)


@router.get("/docs", response_model=None)
def page() -> Response:
    """The page."""
    return _file("index.html", "text/html")


@router.get("/docs/{name}", response_model=None)
def file(name: Literal["docs.css", "docs.js"]) -> Response:
    """What the page loads."""
    return _file(name, _TYPES[name])


@router.get("/api/docs", response_model=None)
def redirect() -> Response:
    """Relative, because a proxy may serve this below a path."""
    return RedirectResponse("../docs")


def _file(name: str, media_type: str) -> Response:
    content = files("lineproof.serving.api").joinpath(f"docs_page/{name}").read_bytes()
    return Response(content, media_type=media_type, headers=_HEADERS)
