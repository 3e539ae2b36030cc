"""The exact bytes of each event in a body: one JSON object, or the elements of a JSON array.

The body is scanned, not parsed: brackets, commas and strings are enough to find the elements and the depth. Whether an
element is valid JSON is found out when it is parsed. If every element is, so is the array: it is nothing but these
elements, commas and white space.
"""

import re
from typing import NamedTuple

from lineproof.producers.gateway.limits import VALUES_PER_BODY, GatewayLimits
from lineproof.producers.gateway.refusals import RequestRefused, not_an_event
from lineproof.schemas.reasons import Reason

WHITE_SPACE = b" \t\n\r"
"""What JSON allows around values."""

_TOKEN = re.compile(rb'"[^"]*"|[\[\]{},"]')
_QUOTE, _COMMA = b'",'
_OPENING, _CLOSING = b"[{", b"]}"


class Body(NamedTuple):
    """The events of a body, without the white space around them."""

    is_array: bool
    payloads: list[bytes]


def split(body: bytes, limits: GatewayLimits) -> Body:
    """The events of a body. Raises RequestRefused if it nests too deep, or has too many events."""
    text = body.strip(WHITE_SPACE)
    if not text:
        raise RequestRefused(
            400, "empty_body", "The request has no body.", "Send one event, or an array of events, as JSON."
        )
    if not text.startswith(b"["):
        _refuse_values(text, limits.json_values)
        # Without enough brackets it cannot nest too deep. That is so for nearly every event, and fast to see.
        if text.count(b"{") + text.count(b"[") > limits.json_depth:
            _commas(text, limits)
        return Body(False, [text])
    _refuse_values(text, limits.json_values * VALUES_PER_BODY)
    commas = _commas(text, limits)
    if not text.endswith(b"]"):
        raise _invalid("the array does not end with ]")
    begins = [1, *(comma + 1 for comma in commas)]
    payloads = [text[begin:end].strip(WHITE_SPACE) for begin, end in zip(begins, [*commas, len(text) - 1], strict=True)]
    if payloads == [b""]:
        return Body(True, [])
    if b"" in payloads:
        raise _invalid(f"nothing at index {payloads.index(b'')} of the array")
    for payload in payloads:
        _refuse_values(payload, limits.json_values)
    return Body(True, payloads)


def _refuse_values(text: bytes, limit: int) -> None:
    if text.count(b"{") + text.count(b"[") + text.count(b",") > limit:
        raise RequestRefused(
            413,
            "too_many_values",
            f"There are more than {limit} JSON values.",
            "Send fewer events in a request, smaller events, or raise gateway.max_json_values.",
        )


def _commas(text: bytes, limits: GatewayLimits) -> list[int]:
    """The positions of the commas at depth 1. Refuses what nests too deep, and what does not end at its last byte."""
    # Of a run of backslashes, each pair is one backslash. With the pairs and the escaped quotes out of the way, every
    # quote that is left begins or ends a string. The replacements keep all positions.
    plain = text.replace(rb"\\", b"__").replace(rb"\"", b"__") if b"\\" in text else text
    depth = 0
    commas: list[int] = []
    for match in _TOKEN.finditer(plain):
        begin, end = match.span()
        byte = plain[begin]
        if byte == _QUOTE:
            if end - begin == 1:
                raise _invalid("a string does not end")
        elif byte in _OPENING:
            depth += 1
            if depth > limits.json_depth:
                raise not_an_event(
                    Reason.JSON_TOO_DEEP, "", f"this gateway takes {limits.json_depth}: gateway.max_json_depth"
                )
        elif byte in _CLOSING:
            depth -= 1
            if depth <= 0:
                if end != len(text):
                    raise _invalid(f"there is more after the end of the value, at byte {end}")
                return commas
        elif depth == 1:
            commas.append(begin)
            if len(commas) >= limits.events and text.startswith(b"["):
                raise RequestRefused(
                    413,
                    "too_many_events",
                    f"The array has more than {limits.events} events.",
                    "Send them in several requests, or raise gateway.max_events.",
                )
    raise _invalid("a bracket is not closed")


def _invalid(detail: str) -> RequestRefused:
    return not_an_event(Reason.INVALID_JSON, "", detail)
