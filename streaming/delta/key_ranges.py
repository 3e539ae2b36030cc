"""A few ranges that cover the keys of a batch, by which Delta skips files.

One range from the smallest to the greatest key would span the table as soon as a single key lies far off: a late event,
a run id without a time, a wrong clock. So several ranges cover the keys, with the widest gaps between them left out.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F

MAX_RANGES = 32
"""More ranges skip more files, and take longer to compare with each file."""

PREFIX = 8
"""Characters of a text key that are compared: of a UUIDv7, the time in steps of 65 s."""
GRANULE_S = 60
"""Times are compared in steps of a minute."""

_LAST_CHARACTER = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True)
class KeyRanges:
    """Ranges of a column, each from its first value to before its end. Without an end, to the greatest value."""

    column: str
    ranges: Sequence[tuple[Column, Column | None]]

    def condition(self) -> Column:
        """Whether a value lies in one of the ranges."""
        value = F.col(self.column)
        inside = (value >= first if end is None else (value >= first) & (value < end) for first, end in self.ranges)
        # Without a literal in it: Delta skips files only by conditions that compare columns on both sides of an OR.
        return reduce(or_, inside) if self.ranges else F.lit(False)


def prefix(text: Column) -> Column:
    """The part of a text key that `text_ranges` needs. Collect the distinct ones of a batch."""
    return F.substring(text, 1, PREFIX)


def granule(time: Column) -> Column:
    """The part of a time that `time_ranges` needs. Collect the distinct ones of a batch."""
    return F.floor(F.unix_micros(time) / (GRANULE_S * 1_000_000))


def text_ranges(column: str, prefixes: Collection[str]) -> KeyRanges:
    """Cover the texts that begin with one of these prefixes."""
    by_number = {_number(text): text for text in sorted(prefixes)}
    found = covering(list(by_number), MAX_RANGES)
    ranges = [(by_number[first], _successor(by_number[last])) for first, last in found]
    return KeyRanges(column, [(F.lit(first), None if end is None else F.lit(end)) for first, end in ranges])


def time_ranges(column: str, granules: Collection[int]) -> KeyRanges:
    """Cover the times in these granules."""

    def at(number: int) -> Column:
        return F.timestamp_micros(F.lit(number * GRANULE_S * 1_000_000))

    return KeyRanges(column, [(at(first), at(last + 1)) for first, last in covering(list(granules), MAX_RANGES)])


def covering(numbers: Sequence[int], count: int) -> list[tuple[int, int]]:
    """At most `count` ranges that cover the numbers, with the widest gaps between the ranges.

    Consecutive numbers are in one range: a condition of few parts is compiled and compared sooner.
    """
    ordered = sorted(numbers)
    if not ordered:
        return []
    gaps = (at for at in range(1, len(ordered)) if ordered[at] - ordered[at - 1] > 1)
    widest = sorted(gaps, key=lambda at: ordered[at - 1] - ordered[at])[: count - 1]
    cuts = [0, *sorted(widest), len(ordered)]
    return [(ordered[begin], ordered[end - 1]) for begin, end in pairwise(cuts)]


def _number(text: str) -> int:
    """A number that orders prefixes as Spark orders texts: by their bytes. Gaps between numbers are comparable."""
    return int.from_bytes(text.encode().ljust(4 * PREFIX, b"\0"), "big")


def _successor(text: str) -> str | None:
    """The first text after all that begin with this text; None if there is none."""
    for at in range(len(text) - 1, -1, -1):
        code = ord(text[at])
        if code < _LAST_CHARACTER:
            following = code + 1
            return text[:at] + chr(_SURROGATES.stop if following in _SURROGATES else following)
    return None
