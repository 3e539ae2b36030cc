"""Events as JSON lines: on the console, or in a file that `lineproof load` can publish later."""

import logging
import os
import sys
from abc import abstractmethod
from pathlib import Path

from lineproof.producers.transports.base import EndpointUnavailable, ImmediateTransport, Stats
from lineproof.schemas.envelope import Envelope

log = logging.getLogger(__name__)


class _LinesTransport(ImmediateTransport):
    """Writes each event as one line."""

    def __init__(self) -> None:
        self._taken = self._delivered = self._lost = 0

    def publish(self, key: bytes, envelope: Envelope) -> None:  # noqa: ARG002
        """Write one line."""
        self._taken += 1
        try:
            self._write(envelope.payload + b"\n")
            self._delivered += 1
        except OSError as error:
            self._lost += 1
            log.error("A lineage event is lost: %s", error)  # noqa: TRY400

    @property
    def stats(self) -> Stats:
        """Counts of events so far."""
        return Stats(taken=self._taken, delivered=self._delivered, lost=self._lost)

    @abstractmethod
    def _write(self, line: bytes) -> None: ...


class ConsoleTransport(_LinesTransport):
    """Writes events to stdout."""

    def _write(self, line: bytes) -> None:
        sys.stdout.write(line.decode())
        sys.stdout.flush()


class FileTransport(_LinesTransport):
    """Appends events to a file, each in one write, so that processes can share it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def confirm(self, timeout_s: float) -> None:  # noqa: ARG002
        """Raise if the file cannot be written."""
        try:
            self._write(b"")
        except OSError as error:
            raise EndpointUnavailable(
                f"Events cannot be written to {self._file}: {error.strerror}.",
                "Set emitter.file to a file that can be written.",
            ) from error

    def _write(self, line: bytes) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
