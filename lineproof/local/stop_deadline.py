"""A stop that ends, whatever the JVM is doing.

To stop a query, Spark waits until its batch has noticed: for ever, if the batch is busy where it cannot be interrupted,
or if the JVM has no memory left. Killing the JVM lets all calls to it fail, so that this process can end in order.
"""

import logging
import os
import subprocess
import threading
from types import TracebackType

from lineproof.local.stop_signal import StopSignal

log = logging.getLogger(__name__)

TIMEOUT_S = 30.0
"""How long the queries have to stop."""

REPORT_AFTER_S = 4.0
EXIT_TIMEOUT_S = 10.0
"""How long this process has to end after the JVM was killed."""


class StopDeadline:
    """Kills the JVM if stopping takes too long, or at the second signal."""

    def __init__(self, stop: StopSignal, jvm: "subprocess.Popen[bytes] | None", timeout_s: float = TIMEOUT_S) -> None:
        self._stop = stop
        self._jvm = jvm
        self._timeout_s = timeout_s
        self._is_over = False
        self._thread = threading.Thread(target=self._watch, name="stop-deadline", daemon=True)
        self.has_passed = False

    def __enter__(self) -> "StopDeadline":
        self._stop.is_watched = True
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Everything has ended. After a signal, the errors of calls to a JVM that was killed are no failure."""
        self._is_over = True
        self._stop.wake()
        self._thread.join()
        self._stop.is_watched = False
        return self.has_passed and self._stop() and isinstance(error, Exception)

    def begin(self) -> None:
        """Begin to count without a signal: the job has ended by itself, and its queries have to."""
        if not self._stop():
            self._stop.wake()

    def _watch(self) -> None:
        self._stop.wait()
        is_repeated = self._is_over or self._stop.wait(min(REPORT_AFTER_S, self._timeout_s))
        if not is_repeated:
            log.warning("Waiting up to %.0f s for running batches. Ctrl-C ends them at once.", self._timeout_s)
            self._stop.wait(max(0.0, self._timeout_s - REPORT_AFTER_S))
        if not self._is_over:
            self._end_jvm()

    def _end_jvm(self) -> None:
        self.has_passed = True
        log.warning("Ending the running batches. Nothing is lost: the next start repeats them.")
        if self._jvm:
            self._jvm.kill()
            self._stop.wait(EXIT_TIMEOUT_S)
        if not self._is_over:
            os._exit(1)
