"""A lock between the jobs on this machine with the same home directory: none runs while tables are removed."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings


class JobRunning(LineproofError):
    """Another job is running, or removes the tables."""


class JobLock:
    """Held by every job for as long as it runs, and by one alone while it removes tables. It ends with the process."""

    def __init__(self, descriptor: int | None, path: str) -> None:
        self._descriptor = descriptor
        self._path = path

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Refuse to go on if another job holds the lock; until the end of the block, none can start."""
        if self._descriptor is None:
            yield
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JobRunning(
                f"Another job is running: it holds the lock {self._path}. Its tables cannot be rebuilt now.",
                "Stop it, with `lineproof down` or Ctrl-C, and then start once with --rebuild.",
            ) from error
        yield
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)


@contextmanager
def job_lock(settings: Settings) -> Iterator[JobLock]:
    """The lock of a job. Where the home directory cannot be written, as on some clusters, there is none."""
    path = settings.home / "job.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        yield JobLock(None, str(path))
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JobRunning(
                f"Another job is removing the tables to rebuild them: it holds the lock {path}.", "Wait until it ends."
            ) from error
        yield JobLock(descriptor, str(path))
    finally:
        os.close(descriptor)
