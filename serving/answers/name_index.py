"""Finds names by parts of them, fast: all names are one text, which Python searches faster than a list or a table.

An entry of the text is: mark, name, mark, namespace. The marks are half characters, which no name can have.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

_BEGIN, _MIDDLE = "\udfff", "\udffe"
_MAX_LOOKED_AT = 5000
"""Of a text that is in more entries, the best are found among the first ones; exact names and beginnings always are."""

EXACT, BEGINNING, WORD, PART, NAMESPACE = range(5)
"""How good a hit is, the best first."""

Item = TypeVar("Item")


class Hit(NamedTuple):
    """An entry that was found, by its number."""

    rank: int
    length: int
    entry: int


@dataclass(frozen=True)
class NameIndex(Generic[Item]):
    """What is named, with the text of all names."""

    items: Sequence[Item]
    text: str
    starts: "array[int]"

    @classmethod
    def of(cls, named: Iterable[tuple[str, str, Item]]) -> "NameIndex[Item]":
        """Of names and namespaces."""
        items, parts, starts, at = [], [], array("q"), 0
        for name, namespace, item in named:
            part = f"{_BEGIN}{name}{_MIDDLE}{namespace}".casefold()
            items.append(item)
            parts.append(part)
            starts.append(at)
            at += len(part)
        return cls(items, "".join(parts) + _BEGIN, starts)

    def find(self, query: str, limit: int) -> list[tuple[Hit, Item]]:
        """The best hits."""
        folded = query.strip().casefold()
        if not folded or not self.items or _BEGIN in folded or _MIDDLE in folded:
            return []
        best: dict[int, Hit] = {}
        for wanted, offset, most in (
            (f"{_BEGIN}{folded}{_MIDDLE}", 1, limit),
            (f"{_BEGIN}{folded}", 1, _MAX_LOOKED_AT),
            (folded, 0, _MAX_LOOKED_AT),
        ):
            for at in _places(self.text, wanted, most):
                hit = self._hit(at + offset, len(folded))
                if hit.entry not in best or hit < best[hit.entry]:
                    best[hit.entry] = hit
            if len(best) >= limit and offset:
                break
        return [(hit, self.items[hit.entry]) for hit in sorted(best.values())[:limit]]

    def _hit(self, at: int, length: int) -> Hit:
        entry = bisect_right(self.starts, at) - 1
        start = self.starts[entry] + 1
        middle = self.text.index(_MIDDLE, start)
        if at > middle:
            rank = NAMESPACE
        elif at == start:
            rank = EXACT if at + length == middle else BEGINNING
        else:
            rank = PART if self.text[at - 1].isalnum() else WORD
        return Hit(rank, middle - start, entry)


def _places(text: str, wanted: str, most: int) -> Iterable[int]:
    at = text.find(wanted)
    while at >= 0 and most > 0:
        yield at
        most -= 1
        at = text.find(wanted, at + 1)
