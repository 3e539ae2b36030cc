"""Two who write to the same table: Delta lets the first one win, and the other has to look again."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

log = logging.getLogger(__name__)

SIGNS = ("DELTA_CONCURRENT_APPEND", "DELTA_CONCURRENT_DELETE", "ConcurrentAppendException", "ConcurrentDelete")
"""What maintenance and a batch can meet with. Two jobs on the same tables meet with others, and must not go on."""
TRIES = 6
PAUSE_S = 0.2
"""After the first try; twice as long after each further one."""

T = TypeVar("T")
Result = TypeVar("Result")


def is_conflict(error: BaseException) -> bool:
    """Whether it says that another one has written what this one had read."""
    return any(sign in str(error) for sign in SIGNS)


def again_on_conflict(act: Callable[[T], Result]) -> Callable[[T], Result]:
    """Do it again where another one was first. What was done is not done twice: see `Store`."""

    def persistent(one: T) -> Result:
        for number in range(TRIES - 1):
            try:
                return act(one)
            except (PySparkException, Py4JError) as error:
                if not is_conflict(error):
                    raise
                log.info("Tried again, because of a conflict with another writer: %s", str(error).splitlines()[0])
                time.sleep(PAUSE_S * 2**number)
        return act(one)

    return persistent
