"""The routes of the page, with the policy that keeps it to itself: no other host, no inline script or style."""

from fastapi import APIRouter, Request, Response

from lineproof.serving.web.files import WebFiles

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
REVALIDATE = "no-cache"
FOREVER = "public, max-age=31536000, immutable"


def web_routes() -> APIRouter:
    """`/` and the files that it loads. None of them says anything about the tables, so none needs a key."""
    router, files = APIRouter(include_in_schema=False), WebFiles()

    @router.api_route("/", methods=["GET", "HEAD"], response_model=None)
    def index(request: Request) -> Response:
        page = files.index()
        if request.headers.get("if-none-match") == page.etag:
            return Response(status_code=304, headers={**HEADERS, "ETag": page.etag, "Cache-Control": REVALIDATE})
        return page.response(request.headers.get("accept-encoding", ""), {**HEADERS, "Cache-Control": REVALIDATE})

    @router.api_route("/assets/{version}/{path:path}", methods=["GET", "HEAD"], response_model=None)
    def asset(request: Request, version: str, path: str) -> Response:
        file = files.get(path)
        if file is None:
            return Response("There is no such file.\n", status_code=404, media_type="text/plain", headers=HEADERS)
        # A page that was open before an upgrade still names the former version.
        caching = FOREVER if version == files.version else "no-store"
        return file.response(request.headers.get("accept-encoding", ""), {**HEADERS, "Cache-Control": caching})

    return router
