"""The merge rules for values that are easy to get wrong: nulls, and words with a rank."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from lineproof.schemas.verdicts import HASH_VERDICTS
from lineproof.streaming.stages.merge_rules import UNION, MergeRules, Rule, first_of

ALTERED, UNKNOWN, INTACT = HASH_VERDICTS


def merged(spark: SparkSession, rule: Rule, kind: str, *values: Any) -> Any:
    """The merge of one value per row, in one step and in two: they must agree."""
    rules = MergeRules(("key",), {"value": rule})
    frames = [spark.createDataFrame([("k", value)], f"key STRING, value {kind}") for value in values]
    [first, *others] = frames
    at_once, in_steps = first, first
    for frame in others:
        at_once = at_once.unionByName(frame)
        in_steps = rules.merge(frame.unionByName(in_steps).unionByName(in_steps))
    [row], [stepwise] = rules.merge(at_once).collect(), in_steps.collect()
    assert row.value == stepwise.value
    return row.value


def test_a_union_keeps_null_elements(spark: SparkSession) -> None:
    assert merged(spark, UNION, "ARRAY<STRING>", ["b", None], ["a", None, "b"], []) == [None, "a", "b"]


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ((INTACT, UNKNOWN, None), UNKNOWN),
        ((None, INTACT), INTACT),
        ((UNKNOWN, ALTERED, INTACT), ALTERED),
        ((INTACT, "a word of a later release"), "a word of a later release"),
    ],
)
def test_the_worst_verdict_wins(spark: SparkSession, values: tuple[str | None, ...], first: str) -> None:
    assert merged(spark, first_of(HASH_VERDICTS), "STRING", *values) == first
