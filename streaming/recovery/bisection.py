"""Find the records that make a batch fail, by trying smaller and smaller parts of it."""

from collections.abc import Callable, Sequence
from typing import TypeVar

MAX_FOUND = 32
"""Records that are found one by one. After them, a part that fails is not divided below `MIN_PART`."""
MIN_PART = 1000

T = TypeVar("T")
Try = Callable[[Sequence[T]], str | None]
"""Returns the error, or None if the part can be processed."""


def failing(items: Sequence[T], error: str, attempt: Try[T], max_found: int = MAX_FOUND) -> dict[T, str]:
    """The items without which the batch can be processed, each with its error. All items together fail with `error`.

    A part is divided until it can be processed or is a single item. Items that fail only together with others are found
    too: the last one in order counts. Empty, if all parts can be processed one after the other.
    """
    found: dict[T, str] = {}
    _search(items, [], error, attempt, found, max_found)
    return found


def _search(
    items: Sequence[T], before: Sequence[T], error: str, attempt: Try[T], found: dict[T, str], max_found: int
) -> None:
    """Search in items that fail together with those before them, which do not fail alone."""
    is_small = len(items) <= (MIN_PART if len(found) >= max_found else 1)
    if is_small:
        found.update(dict.fromkeys(items, error))
        return
    half = len(items) // 2
    left, right = items[:half], items[half:]
    if left_error := attempt([*before, *left]):
        _search(left, before, left_error, attempt, found, max_found)
    good = [*before, *(item for item in left if item not in found)]
    if right_error := attempt(right):
        _search(right, [], right_error, attempt, found, max_found)
        right = [item for item in right if item not in found]
    if (left_error is None and right_error is None) and (both_error := attempt([*good, *right])):
        # The halves fail only together.
        _search(right, good, both_error, attempt, found, max_found)
