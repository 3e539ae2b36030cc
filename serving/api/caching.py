"""Answers that a client need not get twice: ETag from the versions of the tables, 304, and gzip."""

import gzip
import json
from collections.abc import Callable
from hashlib import sha256

from fastapi import Request, Response

from lineproof.serving.open_tables import Known, TableSet

MIN_GZIP_BYTES = 1000
_GZIP_LEVEL = 5


def cached(
    request: Request, tables: TableSet, moment: str, make: Callable[[], bytes], media_type: str = "application/json"
) -> Response:
    """The response; without a body if the client has it. `moment` changes with what is not in the tables."""
    headers = {
        "ETag": etag(request, tables, moment),
        "Cache-Control": "private, no-cache",
        "Vary": "Accept-Encoding",
        "Lineproof-Known": known_header(tables.known),
    }
    if _matches(request.headers.get("if-none-match", ""), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    body = make()
    if len(body) >= MIN_GZIP_BYTES and _takes_gzip(request.headers.get("accept-encoding", "")):
        body = gzip.compress(body, _GZIP_LEVEL, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return Response(body, headers=headers, media_type=media_type)


def etag(request: Request, tables: TableSet, moment: str) -> str:
    """Weak: the same answer may be compressed or not."""
    stated = json.dumps([tables.etag, moment, request.url.path, request.url.query])
    return f'W/"{sha256(stated.encode()).hexdigest()[:24]}"'


def known_header(known: Known) -> str:
    """Which state of the tables answers."""
    times = {"at": known.at, "oldest_at": known.oldest_at}
    return json.dumps({"how": known.how, **{name: at and at.isoformat() for name, at in times.items()}})


def _matches(header: str, tag: str) -> bool:
    stated = {one.strip() for one in header.split(",")}
    return tag in stated or "*" in stated


def _takes_gzip(header: str) -> bool:
    for one in header.split(","):
        name, _, quality = one.partition(";")
        if name.strip().lower() == "gzip":
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
