"""The commands of docs/api.md, run as they are written against a server."""

import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI

from lineproof.serving.answers.installation import Installation
from lineproof.serving.api.app import add_read_routes
from lineproof.serving.api.v1 import PREFIX
from lineproof.serving.open_tables import OpenTables
from tests.unit.serving.answers.world import make_world

PAGE = (Path(__file__).parents[4] / "docs" / "api.md").read_text()
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
START_TIMEOUT_S = 30


def app_over(directory: Path) -> FastAPI:
    app = FastAPI(docs_url=None)
    add_read_routes(app, OpenTables(str(directory)), Installation("1.0"))
    return app


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    app = app_over(make_world(tmp_path_factory.mktemp("page") / "tables"))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(START_TIMEOUT_S)
    listener.close()


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_commands_work(url: str, number: int) -> None:
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", COMMANDS[number]],
        env={**os.environ, "LINEPROOF": url, "no_proxy": "*"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(("{", "304"))
    assert "304\n" in ran.stdout or "If-None-Match" not in COMMANDS[number]


def test_every_route_is_listed(tmp_path: Path) -> None:
    table = PAGE.partition("| route | question |")[2].partition("## Names")[0]
    listed = {path.replace("ID", "{run_id}") for path in re.findall(r"`(/[^`]*)`", table)}
    paths = {path.removeprefix(PREFIX) for path in app_over(tmp_path).openapi()["paths"] if path.startswith(PREFIX)}
    assert listed == paths
