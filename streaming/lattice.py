"""The law every curated table obeys, stated once.

A row is an element of a join-semilattice: each of its columns merges by a rule that is commutative,
associative and idempotent. So the row is the same for every order, repetition, delay and split of the events
it is made of, and no watermark has to drop late ones.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

Rule = Callable[[Column], Column]
"""One way to merge the values that a column has in the rows of a group. Nulls are neutral."""

EARLIEST: Rule = F.min
"""The smallest value. Of structs, the smallest by their first field, then the second, …"""

LATEST: Rule = F.max
"""The greatest value. A struct that begins with (event time, event id) makes this the latest event's word."""


def UNION(arrays: Column) -> Column:  # noqa: N802
    """All elements of all arrays, each once, sorted. The arrays themselves must not be null."""
    return F.array_sort(F.array_distinct(F.flatten(F.collect_set(arrays))))


def smallest(count: int) -> Rule:
    """The smallest elements of all arrays: all of them as long as they are few, and never more than `count`."""
    return lambda arrays: F.slice(UNION(arrays), 1, count)


def latest_by(*key: str) -> Rule:
    """Of the structs in all arrays, the greatest of each `key`, with which they begin."""
    return lambda arrays: _last_of_each(key, UNION(arrays))


def folded(rows: DataFrame, key: Sequence[str], rules: Mapping[str, Rule]) -> DataFrame:
    """A row per key: every other column merged by its rule."""
    return rows.groupBy(*key).agg(*(rule(F.col(name)).alias(name) for name, rule in rules.items()))


def _last_of_each(key: Sequence[str], ordered: Column) -> Column:
    def add(kept: Column, element: Column) -> Column:
        last = F.try_element_at(kept, F.lit(-1))
        replaces = reduce(and_, (last[name] == element[name] for name in key))
        others = F.when(replaces, F.slice(kept, 1, F.size(kept) - 1)).otherwise(kept)
        return F.concat(others, F.array(element))

    return F.aggregate(ordered, F.filter(ordered, lambda _: F.lit(False)), add)
