"""Values as clients expect them."""

import json
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from lineproof.serving.api.marquez.values import as_json, embedded, known_time, link, tag_names, time_text, version_id


def test_times_are_in_utc_with_z() -> None:
    moment = datetime(2026, 1, 31, 11, 0, 0, 5000, timezone(timedelta(hours=1)))
    assert time_text(moment) == "2026-01-31T10:00:00.005000Z"
    assert time_text(None) is None
    assert known_time(None, moment) == time_text(moment)
    assert known_time(None) == "1970-01-01T00:00:00Z"


def test_ids_of_versions_are_the_same_everywhere() -> None:
    assert version_id("job", "a", "b", None) == version_id("job", "a", "b", None)
    assert uuid.UUID(version_id("x")).version == 5
    assert version_id("a", "bc") != version_id("ab", "c") != version_id("abc")


@pytest.mark.parametrize(
    "text", ["javascript:alert(1)", "file:///etc/passwd", "no url", "", None, "http://", "http://[", "git@host:a.git"]
)
def test_only_web_addresses_are_links(text: str | None) -> None:
    assert link(text) is None
    assert link("https://example.com/a?b#c") == "https://example.com/a?b#c"


@pytest.mark.parametrize("text", ['{"a":12345678901234567890123}', '{"a":1.10}', '["\\u0000"]'])
def test_json_in_answers_is_not_changed(text: str) -> None:
    assert as_json({"facet": embedded(text)}).decode() == f'{{"facet":{text}}}'


def test_what_only_python_reads_becomes_valid_json() -> None:
    assert as_json(embedded("[1e400,-1e999,NaN,Infinity]")) == b"[null, null, null, null]"
    assert as_json({"facet": embedded('{"a":"\\ud800"}')}) == b'{"facet":{"a": "\\ud800"}}'


@pytest.mark.parametrize("text", ["", "{", "no json", '{"a":1} x', "[" * 100_000, None])
def test_what_is_no_json_is_left_out(text: str | None) -> None:
    assert embedded(text) is None


@pytest.mark.parametrize("value", ["\ud800", 2**70, {"a": ["\udc00"]}])
def test_any_value_can_be_written(value: Any) -> None:
    document = {"value": value, "facet": embedded('{"a":1}')}
    assert json.loads(as_json(document)) == {"value": value, "facet": {"a": 1}}


def test_tags_are_texts() -> None:
    tags: list[dict[str, Any]] = [
        {"key": "pii", "value": "true", "field": None},
        {"key": "level", "value": "3", "field": "amount"},
        {"key": "team", "value": "a", "field": ""},
        {"key": None, "value": None, "field": None},
    ]
    assert tag_names(tags) == ["", "pii", "team:a"]
    assert tag_names(tags, "amount") == ["level:3"]
    assert tag_names(None) == []
