"""The rules by which rows are merged: the law that every table obeys.

A row is an element of a join-semilattice: each column merges by a rule that is commutative, associative and idempotent.
So the row is the same for every order, repetition, delay and split of its events, and no watermark has to drop late
events.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


@dataclass(frozen=True)
class ValueRule:
    """Merges the values of a column into one of them. Nulls are ignored."""

    merge: Callable[[Column], Column]


@dataclass(frozen=True)
class ArrayRule:
    """Merges arrays: `merge` gets the elements of all of them, sorted. The arrays themselves must not be null."""

    merge: Callable[[Column], Column]


Rule = ValueRule | ArrayRule

EARLIEST = ValueRule(F.min)
"""The smallest value. Structs are compared by their first field, then the second, …"""

LATEST = ValueRule(F.max)
"""The greatest value. For structs that begin with (event time, event id), the value from the latest event."""


def first_of(words: Sequence[str]) -> ValueRule:
    """The value that comes first in `words`. Values that are not in the list come before those that are."""

    def merge(value: Column) -> Column:
        position = F.array_position(F.array(*map(F.lit, words)), value)
        ranked = F.struct(position.alias("position"), value.alias("value"))
        return F.min(F.when(value.isNotNull(), ranked))["value"]

    return ValueRule(merge)


def _each_once(ordered: Column) -> Column:
    """Sorted elements without repeats. Null is an element like any other, and comes first."""
    return F.filter(ordered, lambda element, at: (at == 0) | ~element.eqNullSafe(F.get(ordered, at - 1)))


UNION = ArrayRule(_each_once)
"""All elements of all arrays, each once, sorted."""


def smallest(count: int) -> Rule:
    """The smallest elements of all arrays, each once, at most `count` of them."""
    return ArrayRule(lambda ordered: F.slice(_each_once(ordered), 1, count))


def latest_by(*key: str, at_most: int) -> Rule:
    """The greatest struct of each `key` in all arrays; of more than `at_most` keys, the smallest.

    The fields of the key must come first in the struct.
    """
    return ArrayRule(lambda ordered: F.slice(last_of_each(key, ordered), 1, at_most))


_CARRY = ValueRule(lambda value: F.any_value(value, True))
"""The only value that is not null."""


@dataclass(frozen=True)
class MergeRules:
    """How the rows of a table that have the same key become one row."""

    key: tuple[str, ...]
    rules: Mapping[str, Rule]
    derived: Callable[[], Mapping[str, Column]] = dict
    """The columns that are computed from the merged ones."""

    def merge(self, rows: DataFrame, carried: Sequence[str] = ()) -> DataFrame:
        """One row per key. A carried column has at most one value per key, and keeps it."""
        steps = _steps((*self.rules.items(), *((name, _CARRY) for name in carried)))
        merged = rows.groupBy(*self.key).agg(*steps.collected)
        if steps.ordered:
            # In two steps, because a rule reads the sorted array once for each of its elements.
            merged = merged.withColumns(steps.ordered).withColumns(steps.merged).drop("arrays")
        derived = self.derived()
        return merged.withColumns({**derived}) if derived else merged


@dataclass(frozen=True)
class _Steps:
    collected: list[Column]
    ordered: dict[str, Column]
    merged: dict[str, Column]


# Column expressions are cached, here and elsewhere: each part of one is a call into the JVM, thousands in a batch.
@cache
def _steps(rules: tuple[tuple[str, Rule], ...]) -> _Steps:
    """The expressions that merge a group by these rules."""
    values = [rule.merge(F.col(name)).alias(name) for name, rule in rules if isinstance(rule, ValueRule)]
    arrays = {name: rule for name, rule in rules if isinstance(rule, ArrayRule)}
    # Collected together, because each collect_list costs as much as all other aggregates.
    collected = [F.collect_list(F.struct(*arrays)).alias("arrays")] if arrays else []
    return _Steps(
        collected=[*values, *collected],
        ordered={name: F.sort_array(F.flatten(F.col("arrays")[name])) for name in arrays},
        merged={name: rule.merge(F.col(name)) for name, rule in arrays.items()},
    )


def grouped(rows: DataFrame, key: Sequence[str], *values: Column) -> DataFrame:
    """Group by hash. To aggregate texts and structs, Spark sorts all rows, unless it also collects a list."""
    empty = F.collect_list(F.lit(None).cast("int")).alias("empty")
    return rows.groupBy(*key).agg(*values, empty).where(F.size("empty") == 0).drop("empty")


def last_of_each(key: Sequence[str], ordered: Column) -> Column:
    """The last struct of each key in a sorted array."""

    def is_last(element: Column, at: Column) -> Column:
        following = F.get(ordered, at + 1)
        return following.isNull() | ~reduce(and_, (following[name] == element[name] for name in key))

    return F.filter(ordered, is_last)
