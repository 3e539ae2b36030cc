"""An application with Marquez's routes over small tables."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx
import pytest
from fastapi import FastAPI

from lineproof.serving.api.marquez.routes import marquez_routes, unknown_api_paths
from lineproof.serving.open_tables import OpenTables
from tests.tables import tables_of
from tests.unit.serving.api.marquez.world import events, hostile_events

PREFIX = "/api/v1"


def marquez_app(tables: Path) -> FastAPI:
    app = FastAPI()
    app.include_router(marquez_routes(OpenTables(str(tables))))
    app.include_router(unknown_api_paths())
    return app


class Api:
    """Asks the application in this process."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    def ask(self, path: str, method: str = "GET", headers: dict[str, str] | None = None) -> httpx.Response:
        """One request; the path is sent as it is."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:5000") as client:
                return await client.request(method, path, headers=headers)

        return anyio.run(send)

    def get(self, path: str, *names: str, **parameters: Any) -> Any:
        """The answer to GET; each `{}` in the path stands for a name."""
        url = PREFIX + path.format(*(quote(name, safe="") for name in names))
        query = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in parameters.items())
        response = self.ask(f"{url}?{query}" if query else url)
        assert response.status_code == 200, response.text
        return response.json()

    def status(self, path: str, *names: str) -> int:
        return self.ask(PREFIX + path.format(*(quote(name, safe="") for name in names))).status_code


@pytest.fixture(scope="session")
def marquez_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of `world.events()`."""
    return tables_of(tmp_path_factory.mktemp("marquez"), events())


@pytest.fixture(scope="session")
def api(marquez_tables: Path) -> Api:
    return Api(marquez_app(marquez_tables))


@pytest.fixture(scope="session")
def hostile_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tables_of(tmp_path_factory.mktemp("hostile"), hostile_events())


@pytest.fixture
def api_over() -> Callable[[Path], Api]:
    """Asks an application over other tables."""
    return lambda tables: Api(marquez_app(tables))
