"""The bytes of each event in a body, however it is written."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineproof.producers.gateway.limits import GatewayLimits
from lineproof.producers.gateway.refusals import RequestRefused
from lineproof.producers.gateway.splitting import Body, split

LIMITS = GatewayLimits(json_depth=50, json_values=1000, events=100)
SPACE = st.text(" \t\r\n", max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(['\\"', '"],[', "\\", "{", "\\\\\\"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=3)


@st.composite
def written(draw: st.DrawFn) -> tuple[list[bytes], bytes]:
    """The elements of an array as somebody wrote them, and the array."""
    elements = [
        json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 0, 2])))
        for value in draw(st.lists(OBJECTS, max_size=5))
    ]
    try:
        encoded = [element.encode() for element in elements]
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can write
        encoded = [json.dumps(json.loads(element)).encode() for element in elements]
    body = b",".join(draw(SPACE).encode() + element + draw(SPACE).encode() for element in encoded)
    return encoded, draw(SPACE).encode() + b"[" + body + b"]" + draw(SPACE).encode()


@given(written())
def test_every_element_of_an_array_keeps_its_bytes(case: tuple[list[bytes], bytes]) -> None:
    elements, body = case
    assert split(body, LIMITS) == Body(True, elements)


@pytest.mark.parametrize(
    "element",
    [
        rb'{"a": "\\"}',
        rb'{"a": "\\\""}',
        rb'{"a\"]": "],[{\"", "b": "\ud83d\ude00 \ud800"}',
        '{"a": "\U0001f600\u2028"}'.encode(),
        rb'{"a": "\u005c\u0022"}',
        b'{ "a" :\t1e400 }',
        b"\xff",
        b'{"a":1]',
    ],
)
def test_strings_and_faults_inside_an_element_stay_there(element: bytes) -> None:
    assert split(b"[" + element + b" ,\n" + element + b"]", LIMITS).payloads == [element, element]


def test_white_space_around_one_event_is_not_part_of_it() -> None:
    assert split(b'\n\t {"a": 1 }\r\n', LIMITS) == Body(False, [b'{"a": 1 }'])


def test_an_empty_array_has_no_events() -> None:
    assert split(b" [ \n ] ", LIMITS) == Body(True, [])


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "empty_body"),
        (b" \n", "empty_body"),
        (b"[", "invalid_json"),
        (b"[1,]", "invalid_json"),
        (b"[,1]", "invalid_json"),
        (b"[1}", "invalid_json"),
        (b"[1] [2]", "invalid_json"),
        (b"[1]]", "invalid_json"),
        (b"[[1]", "invalid_json"),
        (b'["a]', "invalid_json"),
        (b'["a\\"]', "invalid_json"),
        (b"[" * 900, "json_too_deep"),
        (b'{"a":' * 900, "json_too_deep"),
        (b'{"a":' + b"[" * 50 + b"]" * 50 + b"}", "json_too_deep"),
        (b"[" + b",".join([b"{}"] * 101) + b"]", "too_many_events"),
        (b'{"a": [' + b"1," * 1001 + b"1]}", "too_many_values"),
        (b'[{}, {"a": [' + b"1," * 1001 + b"1]}]", "too_many_values"),
        (b"[" + b",".join([b'{"a": [' + b"1," * 900 + b"1]}"] * 5) + b"]", "too_many_values"),
    ],
    ids=range(18),
)
def test_what_is_no_array_of_events_is_refused(body: bytes, code: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        split(body, LIMITS)
    assert refused.value.code == code


def test_the_limits_are_inclusive() -> None:
    nested: Any = b"[" * 49 + b"]" * 49
    assert split(b"[" + nested + b"]", LIMITS).payloads == [nested]
    assert len(split(b"[" + b",".join([b"{}"] * 100) + b"]", LIMITS).payloads) == 100


def test_brackets_in_strings_do_not_count() -> None:
    text = b'{"a": "' + b"[{" * 400 + b'"}'
    assert split(text, LIMITS).payloads == [text]
