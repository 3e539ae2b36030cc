"""`lineproof mcp` in its own process, asked by the client of the package `mcp`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

DEADLINE_S = 60


def arguments(tables: Path, home: Path) -> list[str]:
    """How the server is started."""
    return ["-m", "lineproof", "mcp", f"--set=tables={tables}", f"--set=home={home}"]


@contextmanager
def conversation(tables: Path, home: Path) -> Iterator["Asker"]:
    """A server that ends with the conversation."""
    parameters = StdioServerParameters(command=sys.executable, args=arguments(tables, home))
    with start_blocking_portal() as portal, Path(os.devnull).open("w") as log:
        client = Client(stdio_client(parameters, log))
        with portal.wrap_async_context_manager(client):
            yield Asker(portal, client)


class Asker:
    """Asks tools."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal, self.client = portal, client

    def tools(self) -> list[Any]:
        """What the server offers."""
        found: Any = self._portal.call(self.client.list_tools)
        return list(found.tools)

    def text(self, tool: str, **values: Any) -> tuple[bool, str]:
        """Whether it is an error, and the text."""

        async def call() -> Any:
            with anyio.fail_after(DEADLINE_S):
                return await self.client.call_tool(tool, values)

        result = self._portal.call(call)
        (content,) = result.content
        return bool(result.is_error), content.text

    def ask(self, tool: str, **values: Any) -> dict[str, Any]:
        """The answer."""
        is_error, text = self.text(tool, **values)
        assert not is_error, text
        answer: dict[str, Any] = json.loads(text)
        assert {"verdict", "reason"} == answer["trust"].keys()
        assert answer["based_on"]["known"]["how"] in ("now", "version", "event time")
        assert "table_versions" in answer["based_on"]
        return answer

    def refused(self, tool: str, **values: Any) -> str:
        """The text of an error."""
        is_error, text = self.text(tool, **values)
        assert is_error, text
        return text


def raw(tables: Path, home: Path) -> "subprocess.Popen[bytes]":
    """The server without a client."""
    return subprocess.Popen(
        [sys.executable, *arguments(tables, home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
