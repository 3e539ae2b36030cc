"""The logs below the home directory: `job.log`, which Spark and this process write, and `up.log` of a detached `up`.

Log4j rotates `job.log` and the broker's log (conf/log4j2.properties).
"""

import logging
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import WatchedFileHandler
from pathlib import Path

from lineproof.cli.console import SafeFormatter
from lineproof.settings import Settings

MAX_UP_LOG_BYTES = 10 * 2**20


def job_log(settings: Settings) -> Path:
    """The log of the job, when Spark runs on this machine."""
    return settings.home / "logs" / "job.log"


def up_log(settings: Settings) -> Path:
    """The output of `lineproof up --detach`."""
    return settings.home / "logs" / "up.log"


@contextmanager
def jvm_output_to(log: Path) -> Iterator[None]:
    """Redirect stdout and stderr to the log while the JVM starts and inherits them.

    This process's own stdout and stderr are for data and for messages to the user.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    originals = os.dup(1), os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(originals[0], 1)
            os.dup2(originals[1], 2)
            for descriptor in originals:
                os.close(descriptor)


@contextmanager
def python_log(file: Path) -> Iterator[logging.Logger]:
    """Write this process's warnings to the log as well, in the format of Log4j.

    Yields a logger that writes to this file only, for errors that the command line prints itself.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    handler = WatchedFileHandler(file)  # reopens the file after Log4j has rotated it
    formatter = SafeFormatter(
        "%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", datefmt="%Y-%m-%dT%H:%M:%S"
    )
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    handler.setLevel(logging.WARNING)
    file_only = logging.Logger("lineproof")  # not part of the logger hierarchy, so nothing reaches stderr
    file_only.addHandler(handler)
    warnings = logging.getLogger("lineproof")
    warnings.addHandler(handler)
    try:
        yield file_only
    finally:
        warnings.removeHandler(handler)
        handler.close()


def rotate_up_log(log: Path, max_bytes: int = MAX_UP_LOG_BYTES) -> None:
    """Move the content of a large log to `up.log.1`. The file itself stays: a running `up` appends to it."""
    if log.exists() and log.stat().st_size > max_bytes:
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        os.truncate(log, 0)
