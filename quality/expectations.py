"""Great Expectations' expectations by their names, and which of them are about single rows."""

from typing import Any

from great_expectations.exceptions.exceptions import ExpectationNotFoundError
from great_expectations.expectations.expectation import (
    ColumnMapExpectation,
    ColumnPairMapExpectation,
    MulticolumnMapExpectation,
)
from great_expectations.expectations.registry import (
    get_expectation_impl,
    list_registered_expectation_implementations,
    register_core_expectations,
)

from lineproof.quality.suite import Expectation, Suite, SuiteError
from lineproof.schemas.errors import nearest
from lineproof.schemas.sanitise import sanitise

COMPARE_ROWS = frozenset(
    {
        "expect_column_value_z_scores_to_be_less_than",
        "expect_column_values_to_be_decreasing",
        "expect_column_values_to_be_increasing",
        "expect_column_values_to_be_unique",
        "expect_column_values_to_not_be_outliers",
        "expect_compound_columns_to_be_unique",
    }
)
"""Expectations that Great Expectations counts among those about rows, though a row alone does not tell."""


def known(suite: Suite, written: Expectation) -> Any:
    """The expectation with its arguments, as Great Expectations has it."""
    register_core_expectations()
    try:
        kind = get_expectation_impl(written.kind)
    except ExpectationNotFoundError as error:
        meant = nearest(written.kind, list_registered_expectation_implementations())
        remedy = f"Did you mean {meant}?" if meant else "Great Expectations' gallery lists them."
        raise SuiteError(suite.file, written.line, f"There is no {written.kind}.", remedy) from error
    try:
        return kind(**written.arguments)
    except ValueError as error:
        what = f"{written.kind} does not take these arguments: {in_short(error)}"
        raise SuiteError(
            suite.file, written.line, what, "Its page in Great Expectations' gallery lists them."
        ) from error


def is_about_rows(written: Expectation, expectation: Any) -> bool:
    """Whether each row tells by itself, whatever the others are."""
    kinds = (ColumnMapExpectation, ColumnPairMapExpectation, MulticolumnMapExpectation)
    return isinstance(expectation, kinds) and written.kind not in COMPARE_ROWS


def in_short(error: Exception) -> str:
    """Its message, in one line that may be shown."""
    return sanitise(" ".join(str(error).split()))[:300]
