"""Build Great Expectations' expectations from a suite, and tell which of them check rows one by one."""

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
"""Expectations that are row-level to Great Expectations, but compare a row with others."""


def build_expectation(suite: Suite, declared: Expectation) -> Any:
    """Create the Great Expectations object; a wrong name or argument is reported with its line in the suite."""
    register_core_expectations()
    try:
        kind = get_expectation_impl(declared.kind)
    except ExpectationNotFoundError as error:
        similar = nearest(declared.kind, list_registered_expectation_implementations())
        remedy = f"Did you mean {similar}?" if similar else "See the gallery of Great Expectations for their names."
        raise SuiteError(suite.file, declared.line, f"There is no {declared.kind}.", remedy) from error
    try:
        return kind(**declared.arguments)
    except ValueError as error:
        problem = f"{declared.kind} does not take these arguments: {one_line(error)}"
        remedy = "See its page in the gallery of Great Expectations for its arguments."
        raise SuiteError(suite.file, declared.line, problem, remedy) from error


def is_row_level(declared: Expectation, expectation: Any) -> bool:
    """Whether a row passes or fails independently of all other rows."""
    kinds = (ColumnMapExpectation, ColumnPairMapExpectation, MulticolumnMapExpectation)
    return isinstance(expectation, kinds) and declared.kind not in COMPARE_ROWS


def one_line(error: Exception) -> str:
    """The message of an error as one short line without personal data."""
    return sanitise(" ".join(str(error).split()))[:300]
