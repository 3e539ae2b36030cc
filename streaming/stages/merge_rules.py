"""The law every curated table obeys, stated once.

A row is an element of a join-semilattice: each of its columns merges by a rule that is commutative,
associative and idempotent. So the row is the same for every order, repetition, delay and split of the events
it is made of, and no watermark has to drop late ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


@dataclass(frozen=True)
class OneValue:
    """Merges the values that a column has in the rows of a group into one of them. Nulls are neutral."""

    merge: Callable[[Column], Column]


@dataclass(frozen=True)
class Elements:
    """Merges arrays: `merge` gets the elements of all of them, sorted. The arrays themselves must not be null."""

    merge: Callable[[Column], Column]


Rule = OneValue | Elements

EARLIEST = OneValue(F.min)
"""The smallest value. Of structs, the smallest by their first field, then the second, …"""

LATEST = OneValue(F.max)
"""The greatest value. A struct that begins with (event time, event id) makes this the latest event's word."""


def first_of(words: Sequence[str]) -> OneValue:
    """The value that comes first in `words`. Values that are not in the list come before those that are."""

    def merge(value: Column) -> Column:
        position = F.array_position(F.array(*map(F.lit, words)), value)
        ranked = F.struct(position.alias("position"), value.alias("value"))
        return F.min(F.when(value.isNotNull(), ranked))["value"]

    return OneValue(merge)


def _each_once(ordered: Column) -> Column:
    """Sorted elements without repeats. Null is an element like any other, and comes first."""
    return F.filter(ordered, lambda element, at: (at == 0) | ~element.eqNullSafe(F.get(ordered, at - 1)))


UNION = Elements(_each_once)
"""All elements of all arrays, each once, sorted."""


def smallest(count: int) -> Rule:
    """The smallest elements of all arrays: all of them as long as they are few, and never more than `count`."""
    return Elements(lambda ordered: F.slice(_each_once(ordered), 1, count))


def latest_by(*key: str) -> Rule:
    """Of the structs in all arrays, the greatest of each `key`, with which they begin."""
    return Elements(lambda ordered: _last_of_each(key, ordered))


_CARRY = OneValue(lambda value: F.any_value(value, True))
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
            # In two steps, because a rule looks at the array once for each of its elements.
            merged = merged.withColumns(steps.ordered).withColumns(steps.merged).drop("arrays")
        derived = self.derived()
        return merged.withColumns({**derived}) if derived else merged


@dataclass(frozen=True)
class _Steps:
    collected: list[Column]
    ordered: dict[str, Column]
    merged: dict[str, Column]


# Here and elsewhere, columns are written down once: each part of one is a call into the JVM; a batch made thousands.
@cache
def _steps(rules: tuple[tuple[str, Rule], ...]) -> _Steps:
    """What rules do with the rows of a group."""
    values = [rule.merge(F.col(name)).alias(name) for name, rule in rules if isinstance(rule, OneValue)]
    arrays = {name: rule for name, rule in rules if isinstance(rule, Elements)}
    # Collected together, because each column that Spark collects costs as much as all others.
    collected = [F.collect_list(F.struct(*arrays)).alias("arrays")] if arrays else []
    return _Steps(
        collected=[*values, *collected],
        ordered={name: F.sort_array(F.flatten(F.col("arrays")[name])) for name in arrays},
        merged={name: rule.merge(F.col(name)) for name, rule in arrays.items()},
    )


def grouped(rows: DataFrame, key: Sequence[str], *values: Column) -> DataFrame:
    """Many rows in few groups. Of texts and structs, Spark sorts all rows to group them, unless it collects too."""
    nothing = F.collect_list(F.lit(None).cast("int")).alias("nothing")
    return rows.groupBy(*key).agg(*values, nothing).where(F.size("nothing") == 0).drop("nothing")


def _last_of_each(key: Sequence[str], ordered: Column) -> Column:
    def is_last(one: Column, at: Column) -> Column:
        following = F.get(ordered, at + 1)
        return following.isNull() | ~reduce(and_, (following[name] == one[name] for name in key))

    return F.filter(ordered, is_last)
