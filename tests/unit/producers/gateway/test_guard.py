"""Who may do what, request by request, whatever routes there are."""

import json
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI

from lineproof.producers.gateway.access import WHO_AM_I
from lineproof.producers.gateway.guard import Guard
from lineproof.producers.gateway.key_ring import KeyRing
from lineproof.producers.gateway.keys import KeysFile, Role
from lineproof.producers.gateway.limits import GatewayLimits
from lineproof.producers.gateway.me import me_routes
from lineproof.producers.gateway.metrics import GatewayMetrics

SQL = "/api/lineproof/v1/sql"
LINEAGE = "/api/v1/lineage"
LOCAL = "http://127.0.0.1:5000"


class Server:
    """An application in which every path answers, behind the guard."""

    def __init__(self, home: Path) -> None:
        self.keys = KeysFile(home / "keys.json")
        ring = KeyRing(self.keys)
        app = FastAPI()
        app.include_router(me_routes(ring))

        @app.api_route("/{path:path}", methods=["GET", "POST", "PUT", "DELETE"], include_in_schema=False)
        def everything(path: str) -> str:
            return path

        self.app = Guard(app, ring, GatewayLimits(), GatewayMetrics())

    def ask(self, method: str, path: str, key: str = "", **headers: str) -> httpx.Response:
        """One request."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {"Authorization": f"Bearer {key}"} if key else {}

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=LOCAL) as client:
                return await client.request(method, path, headers=named)

        return anyio.run(send)

    def status(self, method: str, path: str, key: str = "", **headers: str) -> int:
        """Its status."""
        return self.ask(method, path, key, **headers).status_code


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


@pytest.fixture
def keys(server: Server) -> dict[str, str]:
    """A key of each role."""
    return {role.value: server.keys.add(f"{role.value}-key", role) for role in Role}


@pytest.mark.parametrize("path", ["/", "/assets/1/main.js", "/livez", "/readyz", "/apis", "/metricsx", "/openapi.json"])
def test_the_page_is_public(server: Server, keys: dict[str, str], path: str) -> None:
    assert server.status("GET", path) == 200
    assert server.status("HEAD", path) in (200, 405)
    assert server.status("GET", path, "wrong") == 200, "a key that is not needed is not looked at"
    assert server.status("POST", path) == 401


@pytest.mark.parametrize(
    "path",
    [
        *("/api", "/api/", "/api/lineproof/v1/runs", "/api/lineproof/v1/sql", "/api/v1/namespaces", "/api/docs"),
        *("/metrics", "/metrics/", "/api/lineproof/v1/me/", "/api/lineproof/v1/%6De/x", "/%61pi/lineproof/v1/runs"),
    ],
)
def test_reading_needs_the_role_read(server: Server, keys: dict[str, str], path: str) -> None:
    assert server.status("GET", path) == 401
    assert server.status("GET", path, "wrong") == 401
    assert server.status("GET", path, keys["write"]) == 403
    assert server.status("GET", path, keys["read"]) in (200, 307)
    assert server.status("GET", path, keys["admin"]) in (200, 307)


@pytest.mark.parametrize("path", [SQL, f"{SQL}/", "/api/lineproof/v1/%73ql", "/api/lineproof/v2/new"])
def test_sql_needs_the_role_admin(server: Server, keys: dict[str, str], path: str) -> None:
    assert server.status("POST", path) == 401
    assert server.status("POST", path, keys["write"]) == 403
    assert server.status("POST", path, keys["read"]) == 403
    assert server.status("POST", path, keys["admin"]) == 200
    refused = server.ask("POST", path, keys["write"]).json()
    assert refused["error"] == "wrong_role"
    assert "--role admin" in refused["advice"]


def test_writing_needs_the_role_write(server: Server, keys: dict[str, str]) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert server.status(method, LINEAGE, keys["read"]) == 403
    assert server.status("POST", LINEAGE, keys["write"]) == server.status("POST", LINEAGE, keys["admin"]) == 200
    assert server.ask("POST", LINEAGE).json()["code"] == "unauthorised"


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "", "http://127.0.0.1:5001", "http://localhost:5000", "[", "127.0.0.1:5000"],
)
def test_other_web_pages_are_refused(server: Server, keys: dict[str, str], origin: str) -> None:
    for path in (SQL, LINEAGE):
        assert server.status("POST", path, keys["admin"], Origin=origin) == 403
    assert server.status("GET", "/api/lineproof/v1/runs", keys["read"], Origin=origin) == 200


def test_our_own_page_may_ask_but_not_write(server: Server, keys: dict[str, str]) -> None:
    assert server.status("POST", SQL, keys["admin"], Origin=LOCAL) == 200
    assert server.status("POST", SQL, keys["admin"], Origin="https://Lineage.Example", Host="lineage.example") == 200
    assert server.status("POST", LINEAGE, keys["admin"], Origin=LOCAL) == 403


def test_without_keys_everything_is_open_on_this_machine(server: Server) -> None:
    assert server.status("GET", "/api/lineproof/v1/runs") == server.status("POST", SQL) == 200
    assert server.status("POST", LINEAGE) == 200
    assert server.status("POST", SQL, Origin=LOCAL) == 200
    assert server.status("POST", SQL, Origin="https://evil.example") == 403


@pytest.mark.parametrize(
    "host", ["evil.example:5000", "127.0.0.1.evil.example", "[::2]:5000", "", "localhost.evil.example"]
)
def test_another_name_of_this_machine_reads_nothing_without_keys(server: Server, host: str) -> None:
    """A page whose host name was pointed to 127.0.0.1 is of the same origin."""
    for method, path in (("GET", "/api/lineproof/v1/runs"), ("GET", "/metrics"), ("POST", SQL), ("GET", WHO_AM_I)):
        assert server.status(method, path, Host=host) == 403
        for name in ("localhost", "localhost:5000", "127.0.0.1:5000", "[::1]:5000", "127.1.2.3"):
            assert server.status(method, path, Host=name) == 200
    assert server.status("POST", LINEAGE, Host=host) == 200, "events are taken from clients that know this name"
    key = server.keys.add("reader", Role.ADMIN)
    assert server.status("GET", "/api/lineproof/v1/runs", key, Host=host) == 200


def test_who_am_i(server: Server) -> None:
    def me(key: str = "") -> Any:
        return server.ask("GET", WHO_AM_I, key).json()

    assert me() == {"key": None, "roles": ["write", "read", "admin"], "keys_required": False}
    keys = {role.value: server.keys.add(role.value, role) for role in Role}
    assert me() == {"key": None, "roles": [], "keys_required": True}
    assert me(keys["write"]) == {"key": "write", "roles": ["write"], "keys_required": True}
    assert me(keys["read"]) == {"key": "read", "roles": ["read"], "keys_required": True}
    assert me(keys["admin"]) == {"key": "admin", "roles": ["write", "read", "admin"], "keys_required": True}
    assert me("wrong")["error"] == "unauthorised"
    server.keys.revoke("read")
    assert server.status("GET", WHO_AM_I, keys["read"]) == 401


def test_the_log_has_one_line_for_each_request(
    server: Server, keys: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    server.ask("GET", "/api/lineproof/v1/%1b%5b31m%0A%e2%80%ae" + "x" * 1000, keys["read"])
    server.ask("POST", SQL, keys["write"])
    server.ask("GET", "/")
    printed = capsys.readouterr().out
    first, second, third = map(json.loads, printed.splitlines())
    assert (first["key"], first["status"], len(first["path"])) == ("read-key", 404, 200)
    assert (second["path"], second["status"], second["key"]) == (SQL, 403, None)
    assert (third["path"], third["key"]) == ("/", None)
    assert printed.replace("\n", "").isprintable()
    assert printed.isascii()
