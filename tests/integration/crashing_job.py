"""The job, killed with -9 at a chosen point. Run as a program: CONFIG POINT."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from lineproof.jobrunner import run_job
from lineproof.settings import load
from lineproof.streaming import job
from lineproof.streaming.batch import Batch
from lineproof.streaming.store import Store


def die(*_: object) -> None:
    """Kill this process and the JVM with it: nothing may be tidied up."""
    os.killpg(0, signal.SIGKILL)


def dying(write: Callable[[Batch, Store], None], when: str) -> Callable[[Batch, Store], None]:
    def wrapped(batch: Batch, store: Store) -> None:
        if when == "before":
            die()
        write(batch, store)
        die()

    return wrapped


if __name__ == "__main__":
    config, point = sys.argv[1:]
    when, table = point.split("-", 1)
    for module in job.CURATED:
        if module.TABLE.name == table:
            module.write = dying(module.write, when)  # type: ignore[attr-defined]
    run_job(load(Path(config)), create_topics=False, report=die if table == "archive" else print)
