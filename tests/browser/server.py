"""`lineproof serve` in its own process, over tables that a test has made."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lineproof.local.server_process import RunningServer

START_S = 60


@contextmanager
def serving(tables: Path, home: Path, *options: str) -> Iterator[str]:
    """The address of a server that only reads these tables, until the end."""
    home.mkdir(parents=True, exist_ok=True)
    errors = home / "serve.err"
    with (home / "serve.out").open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "lineproof", "serve", "--only", "read", "--port", "0"),
                *(f"--set=home={home}", f"--set=tables={tables}", *options),
            ],
            stdout=out,
            stderr=err,
            env={**os.environ, "NO_COLOR": "1"},
        )
    try:
        deadline = time.monotonic() + START_S
        while (found := RunningServer.of(home)) is None or found.pid != process.pid:
            assert process.poll() is None, errors.read_text()
            assert time.monotonic() < deadline, errors.read_text()
            time.sleep(0.05)
        yield found.url
    finally:
        process.terminate()
        process.wait(30)
    assert "Traceback" not in errors.read_text(), errors.read_text()
