"""Which expectations of Great Expectations check rows one by one."""

from great_expectations.expectations.registry import (
    get_expectation_impl,
    list_registered_expectation_implementations,
    register_core_expectations,
)

from lineproof.quality.expectations import COMPARE_ROWS, is_row_level
from lineproof.quality.suite import Expectation

ROW_LEVEL = {
    "expect_column_pair_values_a_to_be_greater_than_b",
    "expect_column_pair_values_to_be_equal",
    "expect_column_pair_values_to_be_in_set",
    "expect_column_value_lengths_to_be_between",
    "expect_column_value_lengths_to_equal",
    "expect_column_values_to_be_between",
    "expect_column_values_to_be_dateutil_parseable",
    "expect_column_values_to_be_in_set",
    "expect_column_values_to_be_in_type_list",
    "expect_column_values_to_be_json_parseable",
    "expect_column_values_to_be_null",
    "expect_column_values_to_be_of_type",
    "expect_column_values_to_match_json_schema",
    "expect_column_values_to_match_like_pattern",
    "expect_column_values_to_match_like_pattern_list",
    "expect_column_values_to_match_regex",
    "expect_column_values_to_match_regex_list",
    "expect_column_values_to_match_strftime_format",
    "expect_column_values_to_not_be_in_set",
    "expect_column_values_to_not_be_null",
    "expect_column_values_to_not_match_like_pattern",
    "expect_column_values_to_not_match_like_pattern_list",
    "expect_column_values_to_not_match_regex",
    "expect_column_values_to_not_match_regex_list",
    "expect_multicolumn_sum_to_equal",
    "expect_multicolumn_values_to_be_equal",
    "expect_select_column_values_to_be_unique_within_record",
}
"""Each was read and found to be row-level. When a release adds expectations, read those too."""


def test_every_expectation_that_may_check_new_rows_only_was_reviewed() -> None:
    register_core_expectations()
    kinds = {name: get_expectation_impl(name) for name in list_registered_expectation_implementations()}
    found = {name for name, kind in kinds.items() if is_row_level(Expectation(name, {}, 1), kind.construct())}
    assert found == ROW_LEVEL
    assert kinds.keys() >= COMPARE_ROWS
