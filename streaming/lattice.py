"""The law every curated table obeys, stated once.

A row is an element of a join-semilattice: each of its columns merges by a rule that is commutative,
associative and idempotent. So the row is the same for every order, repetition, delay and split of the events
it is made of, and no watermark has to drop late ones.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F


@dataclass(frozen=True)
class Rule:
    """One way to merge: over the rows of a group (`fold`), and of two values (`join`). Nulls are neutral."""

    fold: Callable[[Column], Column]
    join: Callable[[Column, Column], Column]


def _union(left: Column, right: Column) -> Column:
    return F.array_sort(F.array_union(left, right))


EARLIEST = Rule(fold=F.min, join=F.least)
"""The smallest value. Of structs, the smallest by their first field, then the second, …"""

LATEST = Rule(fold=F.max, join=F.greatest)
"""The greatest value. A struct that begins with (event time, event id) makes this the latest event's word."""

UNION = Rule(
    fold=lambda arrays: F.array_sort(F.array_distinct(F.flatten(F.collect_set(arrays)))),
    join=_union,
)
"""All elements of all arrays, each once, sorted. The arrays themselves must not be null."""
