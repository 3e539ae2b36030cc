"""The accounting ledger counts every record."""

import pytest

from lineproof.producers.ledger import Ledger


def counts(ledger: Ledger) -> tuple[int, int, int, int]:
    return ledger.read, ledger.processed, ledger.filtered, ledger.errored


def test_records_count_as_processed_by_default() -> None:
    ledger = Ledger()
    for number in ledger.count(range(10)):
        if number % 2:
            ledger.filter()
        elif number == 4:
            ledger.error()
    assert counts(ledger) == (10, 4, 5, 1)
    assert ledger.difference == 0
    assert ledger.is_kept


def test_a_ledger_without_records_is_kept() -> None:
    ledger = Ledger()
    assert not ledger.is_kept
    assert list(ledger.count([])) == []
    assert ledger.is_kept
    assert counts(ledger) == (0, 0, 0, 0)


@pytest.mark.parametrize(("is_successful", "expected"), [(True, (3, 3, 0, 0)), (False, (3, 2, 0, 1))])
def test_the_current_record_of_a_loop_that_is_left_early(is_successful: bool, expected: tuple[int, ...]) -> None:
    ledger = Ledger()
    for number in ledger.count(range(10)):
        if number == 2:
            break
    ledger.close(is_successful=is_successful)
    assert counts(ledger) == expected
    ledger.close(is_successful=is_successful)
    assert counts(ledger) == expected


def test_nested_loops() -> None:
    ledger = Ledger()
    for outer in ledger.count(range(2)):
        for _ in ledger.count(range(3)):
            ledger.filter()
        if outer:
            ledger.error()
    ledger.close(is_successful=True)
    assert counts(ledger) == (8, 1, 6, 1)


def test_booked_counts_are_added() -> None:
    ledger = Ledger()
    ledger.book(read=5, processed=5)
    ledger.book(read=5, processed=3, filtered=1)
    assert ledger.difference == 1
    assert ledger.facet().balanced is False
    assert "the difference is 1" in str(ledger)
