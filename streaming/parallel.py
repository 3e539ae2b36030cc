"""Calls to Spark from several threads of the driver."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

THREADS = 3
"""Tables created or written at a time: most of a small write is work of the driver, which waits."""

T = TypeVar("T")
R = TypeVar("R")


def in_parallel(spark: SparkSession, call: Callable[[T], R], arguments: Sequence[T], threads: int = THREADS) -> list[R]:
    """Call it for each argument. All calls end before the error of the first that failed is raised."""
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(inheritable_thread_target(spark)(call), argument) for argument in arguments]
    return [future.result() for future in futures]
