"""Loud, but not deafening: the same trouble is logged at once and then now and again, with its number."""

import logging
import time

_SILENCE_S = 10


class Complaints:
    """Logs the first at once, and later ones at most every ten seconds with how many there were."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._unsaid = 0
        self._silent_until = 0.0

    def say(self, text: str) -> None:
        """Log a text, or only count it."""
        self._unsaid += 1
        now = time.monotonic()
        if now >= self._silent_until:
            times, self._unsaid, self._silent_until = self._unsaid, 0, now + _SILENCE_S
            self._log.error("%s%s", text, f" This is the last of {times} such troubles." if times > 1 else "")
