"""Two writers to the same table: Delta lets the first one commit, and the second has to read and write again."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

log = logging.getLogger(__name__)

CONFLICTS = ("DELTA_CONCURRENT_APPEND", "DELTA_CONCURRENT_DELETE", "ConcurrentAppendException", "ConcurrentDelete")
"""The conflicts between maintenance and a batch. Two jobs on the same tables cause others, which stop the job."""
ATTEMPTS = 6
FIRST_PAUSE_S = 0.2
"""After the first attempt; twice as long after each further one."""

T = TypeVar("T")
Result = TypeVar("Result")


def is_conflict(error: BaseException) -> bool:
    """Whether the error says that another writer has changed what this one had read."""
    return any(name in str(error) for name in CONFLICTS)


def retry_on_conflict(write: Callable[[T], Result]) -> Callable[[T], Result]:
    """Call `write` again where another writer was first. A batch is still written once: see `BatchWriter`."""

    def write_with_retries(argument: T) -> Result:
        for attempt in range(ATTEMPTS - 1):
            try:
                return write(argument)
            except (PySparkException, Py4JError) as error:
                if not is_conflict(error):
                    raise
                log.info("Retry after a conflict with another writer: %s", str(error).splitlines()[0])
                time.sleep(FIRST_PAUSE_S * 2**attempt)
        return write(argument)

    return write_with_retries
