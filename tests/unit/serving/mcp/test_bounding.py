"""Answers fit into a context, and say what is left out."""

import json
from typing import Any

import pytest

from lineproof.serving.mcp.bounding import MAX_CHARACTERS, as_text, without_drawing


def answer(**members: Any) -> dict[str, Any]:
    return {"trust": {"verdict": "proven", "reason": "r"}, "based_on": {}, "answer": members, "left_out": []}


def test_small_answers_are_whole() -> None:
    whole = answer(items=[{"name": "é\u202e😀", "detail": "d"}] * 3)
    assert json.loads(as_text(whole)) == whole
    assert "\u202e" not in as_text(whole)


@pytest.mark.parametrize(
    "members",
    [
        {"items": [{"name": f"n{n}", "detail": "x" * 500} for n in range(5000)]},
        {"items": [{"namespace": "n" * 2000, "name": "m" * 2000}] * 1000},
        {"sql": "x" * 10**6},
        {"facet": {f"k{n}": "v" * 100 for n in range(10_000)}},
        {"rows": [["x" * 1_000] * 100] * 100},
        {"facet": [[["deep"] * 30] * 30] * 30},
        {"name": "x" * 10**6},
        {"k" * 10**6: 1},
    ],
)
def test_large_answers_say_what_is_left_out(members: dict[str, Any]) -> None:
    text = as_text(answer(**members))
    assert len(text) <= MAX_CHARACTERS
    shown = json.loads(text)
    assert shown["left_out"]
    assert shown["trust"]["verdict"] == "proven"


def test_names_stay_whole_while_there_is_room() -> None:
    shown = json.loads(as_text(answer(items=[{"name": "n" * 2000, "detail": "x" * 2000}] * 100)))
    assert {one["name"] for one in shown["answer"]["items"]} == {"n" * 2000}
    assert "answer.items: " in " ".join(shown["left_out"])


def test_the_drawing_is_left_out() -> None:
    drawn = {"nodes": [{"id": "a", "x": 1.0, "y": 2.0, "facets": {"b": 1, "a": {"x": 1}}}], "width": 9, "rows": 3}
    assert without_drawing(drawn) == {"nodes": [{"id": "a", "facets": ["a", "b"]}], "rows": 3}
