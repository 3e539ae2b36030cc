"""Ctrl-C and SIGTERM as a flag, for loops that end between two steps."""

import signal
from types import FrameType


class StopSignal:
    """True once Ctrl-C or SIGTERM has asked this process to stop."""

    def __init__(self) -> None:
        self._is_set = False

    def listen(self) -> None:
        """Handle the signals. Call it again after Spark has started, which takes SIGINT for itself."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._set)

    def __call__(self) -> bool:
        return self._is_set

    def _set(self, _number: int, _frame: FrameType | None) -> None:
        self._is_set = True
