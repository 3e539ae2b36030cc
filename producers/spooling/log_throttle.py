"""Logs a repeated error now and then, with a count, instead of every time."""

import logging
import time

_INTERVAL_S = 10


class LogThrottle:
    """Logs the first error immediately, and later ones at most every ten seconds with their number."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._unlogged = 0
        self._next_log_at = 0.0

    def error(self, text: str) -> None:
        """Log a text as an error, or only count it."""
        self._unlogged += 1
        now = time.monotonic()
        if now >= self._next_log_at:
            times, self._unlogged, self._next_log_at = self._unlogged, 0, now + _INTERVAL_S
            self._log.error("%s%s", text, f" (repeated {times} times)" if times > 1 else "")
