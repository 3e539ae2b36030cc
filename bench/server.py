"""`lineproof serve` in its own process, for benchmarks."""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lineproof.local.server_process import RunningServer

TIMEOUT_S = 60


@contextmanager
def server(home: Path, settings: Mapping[str, object]) -> Iterator[RunningServer]:
    """A server on a free port, with these settings. Its log is in `home`."""
    options = [f"--set={name}={value}" for name, value in {"home": home, **settings}.items()]
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "lineproof", "serve", "--port", "0", *options], stdout=log, stderr=log
        )
    try:
        deadline = time.monotonic() + TIMEOUT_S
        while (running := RunningServer.of(home)) is None:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((home / "server.log").read_text())
            time.sleep(0.05)
        yield running
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)
