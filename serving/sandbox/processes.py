"""Run SQL of others in worker processes, and end those that take too much."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from lineproof.schemas.errors import LineproofError
from lineproof.serving.open_tables import TIMEOUT_S, QueryTimeout, UnknownVersion
from lineproof.serving.sandbox.select_check import NotASelect
from lineproof.serving.sandbox.worker import GRACE_S, GROWTH, MEMORY_BYTES
from lineproof.serving.sql import QueryError

MAX_PROCESSES = 2
MAX_GROWTH = MEMORY_BYTES // 3
"""A worker that has grown more ends after its answer: memory that a query left behind must not fail the next one."""
_START_S = 60.0
_ENVIRONMENT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR")
"""All that a worker sees of the environment, which can have secrets."""


class TooManyQueries(LineproofError):
    """All workers are busy."""


_ERRORS: dict[str, type[LineproofError]] = {
    error.__name__: error for error in (QueryError, QueryTimeout, UnknownVersion, NotASelect)
}


class SqlProcesses:
    """Up to two workers over the same tables. They start with the first query, and serve many. Thread-safe."""

    def __init__(self, location: str, spill: Path | None = None, *, timeout_s: float = TIMEOUT_S) -> None:
        self._location, self._spill, self._timeout_s = location, spill, timeout_s
        self._free = threading.BoundedSemaphore(MAX_PROCESSES)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []

    def run(self, sql: str, limit: int, as_of: str | None = None) -> dict[str, Any]:
        """The answer to one SELECT. Raises what is wrong with it."""
        if not self._free.acquire(timeout=self._timeout_s):
            raise TooManyQueries(f"{MAX_PROCESSES} queries are running.", "Send it again when they have ended.")
        try:
            return self._run({"sql": sql, "limit": limit, "as_of": as_of})
        finally:
            self._free.release()

    def close(self) -> None:
        """End the workers that have nothing to do."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()

    def _run(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        if worker and not worker.is_alive:
            worker.end()
            worker = None
        worker = worker or _Worker(self._location, self._spill, self._timeout_s)
        line, is_late = worker.ask(json.dumps(request).encode() + b"\n", self._timeout_s + GRACE_S)
        if not line.endswith(b"\n"):
            worker.end()
            raise self._failure(is_late=is_late)
        document: dict[str, Any] = json.loads(line)
        if document.pop(GROWTH) > MAX_GROWTH:
            worker.end()
        else:
            with self._lock:
                self._idle.append(worker)
        if "error" in document:
            raise _ERRORS.get(document["error"], QueryError)(document["what"], document["remedy"])
        return document

    def _failure(self, *, is_late: bool) -> LineproofError:
        if is_late:
            return QueryTimeout(
                f"The query took longer than {self._timeout_s:g} s.",
                "Ask for less: a shorter time, one job or dataset, a smaller depth.",
            )
        return QueryError(
            "The query took more memory than it may have, and its process has ended.",
            "Ask for less: fewer rows, shorter values, no large lists.",
        )


class _Worker:
    """One process, with a directory of its own that is removed with it."""

    def __init__(self, location: str, spill: Path | None, timeout_s: float) -> None:
        if spill:
            spill.mkdir(parents=True, exist_ok=True)
        self._directory = tempfile.TemporaryDirectory(prefix="sql-", dir=spill, ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "lineproof.serving.sandbox.worker"),
                *(location, self._directory.name, str(timeout_s)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )
        line, _ = self.ask(b"", _START_S)
        if not line:
            self.end()
            raise QueryError("The process for queries does not start.", "Try the query with `lineproof sql`.")

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def ask(self, request: bytes, timeout_s: float) -> tuple[bytes, bool]:
        """Its next line, and whether it was ended because that took too long."""
        assert self._process.stdin  # noqa: S101
        assert self._process.stdout  # noqa: S101
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            self._process.kill()

        timer = threading.Timer(timeout_s, end)
        timer.start()
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
            return self._process.stdout.readline(), is_late.is_set()
        except OSError:
            return b"", is_late.is_set()
        finally:
            timer.cancel()

    def end(self) -> None:
        """End the process, and remove what it has left on disk."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        self._directory.cleanup()
