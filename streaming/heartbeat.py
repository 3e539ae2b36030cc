"""The heartbeat of the job: a file with the checkpoints that says what each query does (schemas/heartbeat.py).

It is written by threads, so that it says so when a query has stalled, and so that a slow store delays no batch.
"""

import json
import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

import psutil
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lineproof.schemas import heartbeat as contract
from lineproof.schemas.sanitise import sanitise
from lineproof.streaming.delta.private_api.directory import Directory
from lineproof.streaming.query_states import FinishedBatch, QueryStates

if TYPE_CHECKING:
    from lineproof.streaming.run import Progress

log = logging.getLogger(__name__)

POLL_S = 1.0
LAST_WRITE_S = 5.0
"""How long the end of the job waits for the last heartbeat."""


class Heartbeat:
    """Writes the heartbeat at intervals, and logs a line when a query stalls, and another when it goes on."""

    def __init__(self, spark: SparkSession, checkpoints: str, stalled_after_s: float) -> None:
        self._files = Directory(spark, checkpoints)
        self._states = QueryStates(stalled_after_s)
        self._positions: dict[str, tuple[int, str]] = {}
        self._state = contract.STARTING
        self._error = ""
        self._started_at = time.time()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="heartbeat", daemon=True)
        self._writer: threading.Thread | None = None

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write the last heartbeat: whether the job has failed."""
        self._state = contract.FAILED if isinstance(error, Exception) else contract.STOPPED
        self._error = sanitise((str(error).splitlines() or [""])[0]) if error else ""
        self._stopping.set()
        self._thread.join()
        if self._writer:
            self._writer.join(LAST_WRITE_S)
        self._write_in_background()
        if self._writer:
            self._writer.join(LAST_WRITE_S)

    def running(self) -> None:
        """Everything is checked, and the queries start."""
        self._state = contract.RUNNING

    def stopping(self) -> None:
        """The queries have been asked to stop."""
        self._state = contract.STOPPING
        self._write_in_background()  # now: it may be the last one

    def observe(self, query: StreamingQuery, finished: "Sequence[Progress]") -> None:
        """Note what a query does, and the batches that it has finished since the last call."""
        now, name = time.time(), str(query.name)
        state, newest = self._states.of(name, now), query.lastProgress
        has_advanced = newest is not None and (mark := (newest.batchId, newest.timestamp)) != self._positions.get(name)
        if newest is not None and has_advanced:
            self._positions[name] = mark
            state.position = _position(newest.json) or state.position
        state.observe(now, is_active=bool(query.status["isTriggerActive"]), has_advanced=has_advanced)
        state.finished += [FinishedBatch(batch.batch, batch.rows, batch.seconds, now) for batch in finished]

    def _loop(self) -> None:
        next_write = 0.0
        while not self._stopping.wait(POLL_S):
            for line in self._states.check(time.time()):
                log.warning(line)
            if time.monotonic() >= next_write:
                next_write = time.monotonic() + contract.INTERVAL_S
                self._write_in_background()

    def _write_in_background(self) -> None:
        """Write, unless the last write has not ended yet: a JVM that does not answer must not stop this thread."""
        if self._writer is None or not self._writer.is_alive():
            self._writer = threading.Thread(target=self._write, name="heartbeat-writer", daemon=True)
            self._writer.start()

    def _write(self) -> None:
        now, process = time.time(), psutil.Process()
        document = {
            "state": self._state,
            "error": self._error,
            "machine": contract.machine(),
            "pid": process.pid,
            "pid_started": process.create_time(),
            "started_at": self._started_at,
            "at": now,
            "interval_s": contract.INTERVAL_S,
            "queries": self._states.document(now),
        }
        with suppress(Py4JError, OSError):  # the next one may succeed; a reader sees that this one is missing
            self._files.write(contract.FILE, json.dumps(document))


def _position(progress: str) -> Any:
    """Where a batch ended, from Spark's JSON; `SourceProgress` has it as text that is none. None if it is not known."""
    sources = json.loads(progress)["sources"]
    return sources[0]["endOffset"] if sources else None
