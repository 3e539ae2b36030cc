"""Patterns of namespaces."""

import re

import pytest

from lineproof.schemas.principals import namespace_regex


@pytest.mark.parametrize(
    ("patterns", "namespace", "matches"),
    [
        (("team-a",), "team-a", True),
        (("team-a",), "team-ab", False),
        (("team-a.*",), "team-a.orders", True),
        (("team-a.*",), "team-a", False),
        (("team-a.*",), "team-axorders", False),
        (("x", "*://lake"), "s3://lake", True),
        (("*",), "any\nthing", True),
        (("team-[ab]",), "team-a", False),
        ((), "", True),
        ((), "team-a", False),
    ],
)
def test_a_star_stands_for_any_text_and_nothing_else_is_special(
    patterns: tuple[str, ...], namespace: str, matches: bool
) -> None:
    assert bool(re.fullmatch(namespace_regex(patterns), namespace)) == matches
