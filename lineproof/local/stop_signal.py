"""Ctrl-C and SIGTERM as a flag, for loops that end between two steps."""

import signal
from queue import Empty, SimpleQueue
from types import FrameType


class StopSignal:
    """True once Ctrl-C or SIGTERM has asked this process to stop. The second Ctrl-C ends it at once.

    That is left to the one who waits for signals, if there is one (StopDeadline).
    """

    def __init__(self) -> None:
        self._is_set = False
        self._events: SimpleQueue[None] = SimpleQueue()  # the only queue that a signal handler may write to
        self.is_watched = False

    def listen(self) -> None:
        """Handle the signals. Call it again after Spark has started, which takes SIGINT for itself."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._set)

    def __call__(self) -> bool:
        return self._is_set

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the next signal; whether there was one."""
        try:
            self._events.get(timeout=timeout_s)
        except Empty:
            return False
        return True

    def wake(self) -> None:
        """Let `wait` return without a signal."""
        self._events.put(None)

    def _set(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_set and not self.is_watched:
            raise KeyboardInterrupt
        self._is_set = True
        self._events.put(None)
