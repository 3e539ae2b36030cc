"""Facets are any JSON."""

import json

import pytest

from lineproof.serving.answers.facets import MAX_DEPTH, of_column, parsed


@pytest.mark.parametrize("value", [None, 1, 2**70, "\ud800", [], {"a": [{"b": None}]}])
def test_values_are_read_as_they_are(value: object) -> None:
    assert parsed(json.dumps(value)) == value


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900, 200_000])
def test_what_nests_deeply_stays_text(depth: int) -> None:
    text = "[" * depth + "]" * depth
    assert parsed(text) == text


def test_what_is_no_json_stays_text() -> None:
    assert parsed("{") == "{"
    assert parsed(None) is None


def test_facets_of_a_column() -> None:
    assert of_column([{"name": "a", "facet": '{"b": 1}'}]) == {"a": {"b": 1}}
    assert of_column(None) == {}
