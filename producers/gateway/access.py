"""Which key a request needs: by its method and path, before any route is looked up.

Files of the page have nothing of the tables, so everyone may load them; the page then asks for a key. What reads or
writes data is below `/api/` or is `/metrics`.
"""

import ipaddress
from collections.abc import Iterable
from enum import Enum
from urllib.parse import urlsplit

from lineproof.producers.gateway.keys import Role
from lineproof.producers.gateway.refusals import RequestRefused

READ_API = "/api/lineproof/"
WHO_AM_I = "/api/lineproof/v1/me"
_READING = ("GET", "HEAD")
_WITH_DATA = ("api", "metrics")

Headers = Iterable[tuple[bytes, bytes]]


class Access(Enum):
    """What a request needs."""

    PUBLIC = "no key"
    ANY_KEY = "no key, but if there is one, a valid one"
    READ = Role.READ
    WRITE = Role.WRITE
    ADMIN = Role.ADMIN


def access_to(method: str, path: str) -> Access:
    """What a request needs. All but reading is for keys that may write; queries of SQL are for administrators."""
    if method in _READING:
        if path == WHO_AM_I:
            return Access.ANY_KEY
        first = path.split("/")[1] if path.startswith("/") else ""
        return Access.READ if first in _WITH_DATA else Access.PUBLIC
    return Access.ADMIN if path.startswith(READ_API) else Access.WRITE


def refuse_other_pages(access: Access, headers: Headers) -> None:
    """Refuse what a web page sends, except queries of our own page.

    A page that somebody opens on this machine can send requests to every port of it. Browsers say in `Origin` which
    page it is, whenever a request can change something.
    """
    values = [value for name, value in headers if name == b"origin"]
    if not values or access in (Access.PUBLIC, Access.ANY_KEY, Access.READ):
        return
    hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
    origins = {_host_of(value) for value in values}
    if access is Access.ADMIN and len(hosts) == 1 and origins == set(hosts):
        return
    raise RequestRefused(
        403, "from_a_browser", "The request comes from a web page of another host.", "Send it from a service."
    )


def refuse_other_names(access: Access, headers: Headers, listens_on: str) -> None:
    """Refuse to read for another name than this machine's, where no keys are needed.

    A web page may make the name of its own host point to this machine, and would then be of the same origin.
    """
    if access in (Access.PUBLIC, Access.WRITE) or not _is_loopback(listens_on):
        return
    for name, value in headers:
        host = urlsplit(f"//{value.decode('latin-1')}").hostname if name == b"host" else "localhost"
        if host != "localhost" and not _is_loopback(host or ""):
            raise RequestRefused(
                403,
                "foreign_host",
                "Without keys, this server answers only requests to localhost, and this one names another host.",
                "Use http://localhost with its port, or make a key with `lineproof keys add NAME --role read`.",
            )


def _host_of(origin: bytes) -> str:
    """Host and port; what no host can be, if there is none."""
    try:
        return urlsplit(origin.decode("latin-1")).netloc.lower() or "/"
    except ValueError:
        return "/"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
