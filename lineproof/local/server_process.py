"""The process of `lineproof serve`: where it runs, as its home directory records it, and how `lineproof up` starts it.

Separate from `server`, which needs the packages of the extra `server`.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil

from lineproof.local.endpoints import is_free
from lineproof.schemas.errors import LineproofError
from lineproof.serving.atomic_file import write_atomically
from lineproof.settings import Settings

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 35.0
"""A little more than the server takes for requests in progress."""

_FILE = "server.json"


class ServerFailed(LineproofError):
    """The server did not start."""


@dataclass(frozen=True)
class RunningServer:
    """A server that answers."""

    url: str
    pid: int

    @classmethod
    def of(cls, home: Path) -> "RunningServer | None":
        """The server of a home directory, if it runs. The pid in the file may belong to another process by now."""
        with suppress(OSError, ValueError, TypeError):
            found = cls(**json.loads((home / _FILE).read_text()))
            return found if found.process() else None
        return None

    def process(self) -> psutil.Process | None:
        """Its process, if it runs."""
        with suppress(psutil.Error):
            process = psutil.Process(self.pid)
            return process if "serve" in process.cmdline() else None
        return None

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Let it end what it has begun, and stop it."""
        with suppress(psutil.NoSuchProcess):
            if process := self.process():
                process.terminate()
                _, alive = psutil.wait_procs([process], timeout_s)
                for left in alive:
                    left.kill()


def register(home: Path, url: str) -> None:
    """Record that this process is the server, and answers."""
    home.mkdir(parents=True, exist_ok=True)
    write_atomically(home / _FILE, json.dumps(asdict(RunningServer(url, os.getpid()))))


def unregister(home: Path) -> None:
    """Record that this process has stopped to be the server. Another one may have taken its place."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        if json.loads((home / _FILE).read_text())["pid"] == os.getpid():
            (home / _FILE).unlink()


def server_log(settings: Settings) -> Path:
    """What a server prints that `lineproof up` has started: its access log."""
    return settings.home / "logs" / "server.log"


def can_serve() -> bool:
    """Whether the packages of the server are installed."""
    return all(find_spec(name) for name in ("fastapi", "prometheus_client", "uvicorn", "zstandard"))


def start_server(settings: Settings, arguments: Sequence[str]) -> RunningServer:
    """Start a server on the configured port, or on a free one if that is taken, and wait until it answers."""
    port = settings.gateway.port if is_free(settings.gateway.host, settings.gateway.port) else 0
    log = server_log(settings)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        begin = output.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "lineproof", "serve", *arguments, "--port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    deadline = time.monotonic() + START_TIMEOUT_S
    while (running := RunningServer.of(settings.home)) is None or running.pid != process.pid:
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            printed = log.read_bytes()[begin:].decode(errors="replace").strip()
            raise ServerFailed(f"The gateway did not start:\n{printed}", f"Its log is {log}.")
        time.sleep(0.05)
    return running
