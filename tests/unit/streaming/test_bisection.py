"""The records that make a batch fail are found in few attempts, alone or together with others."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineproof.streaming.recovery.bisection import MAX_FOUND, MIN_PART, failing


class Batch:
    """Fails if it has one of the poisonous numbers, or both of a pair."""

    def __init__(self, poison: set[int], pair: tuple[int, int] | None = None) -> None:
        self.poison, self.pair, self.attempts = poison, pair, 0

    def attempt(self, items: Sequence[int]) -> str | None:
        self.attempts += 1
        is_bad = not self.poison.isdisjoint(items) or (self.pair is not None and {*self.pair} <= {*items})
        return "cannot be processed" if is_bad else None


@given(st.sets(st.integers(0, 499), min_size=1, max_size=5))
def test_exactly_the_poisonous_records_are_found(poison: set[int]) -> None:
    assert failing(range(500), "failed", Batch(poison).attempt).keys() == poison


@given(st.integers(0, 98), st.integers(1, 99))
def test_of_two_that_fail_only_together_the_later_one_is_found(first: int, after: int) -> None:
    pair = first, min(99, first + after)
    assert [*failing(range(100), "failed", Batch(set(), pair).attempt)] == [pair[1]]


@pytest.mark.parametrize("place", [0, 70_000, 99_999])
def test_one_of_many_is_found_in_few_attempts(place: int) -> None:
    batch = Batch({place})
    assert [*failing(range(100_000), "failed", batch.attempt)] == [place]
    assert batch.attempts <= 3 * math.log2(100_000)


def test_many_are_found_in_bounded_attempts() -> None:
    """After some, whole parts are given up: a flood of bad records must not stop the job for hours."""
    batch = Batch(set(range(0, 20_000, 2)))
    found = failing(range(20_000), "failed", batch.attempt)
    assert batch.poison <= found.keys()
    assert batch.attempts < 20 * MAX_FOUND + 3 * 20_000 / MIN_PART


def test_a_batch_whose_parts_all_pass_has_no_bad_record() -> None:
    """For example, a batch that was too slow as a whole."""
    assert failing(range(10), "too slow", lambda items: None) == {}
