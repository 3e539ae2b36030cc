"""Names and patterns of topics."""

import re

import pytest

from lineproof.schemas.topic_names import NoNamedTopic, TopicNames

TOPICS = ["a", "a.b", "axb", "team-x.lineage", "team-y.lineage", "team-y.lineage.old", "__team-z.lineage"]


@pytest.mark.parametrize(
    ("text", "matching", "subscription"),
    [
        ("a", ["a"], ("subscribe", "a")),
        ("a.b, a", ["a", "a.b"], ("subscribe", "a.b,a")),
        (r"^team-.*\.lineage", ["team-x.lineage", "team-y.lineage"], None),
        (r"a.b,^team-x\..*|nothing", ["a.b", "team-x.lineage"], None),
        ("^.*lineage", ["team-x.lineage", "team-y.lineage"], None),
    ],
)
def test_names_and_patterns(text: str, matching: list[str], subscription: tuple[str, str] | None) -> None:
    names = TopicNames.parse(text)
    assert names.matching(TOPICS) == matching
    option, value = names.subscription
    if subscription:
        assert (option, value) == subscription
    else:
        assert option == "subscribePattern"
        assert [topic for topic in TOPICS if re.search(value, topic)] == matching


@pytest.mark.parametrize("text", ["", "a,", "a b", "..", "team-*", "^team-(", "^a{1,3}"])
def test_what_is_neither_a_name_nor_a_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a topic name|not a regular expression"):
        TopicNames.parse(text)


def test_events_are_published_to_the_first_name() -> None:
    assert TopicNames.parse("^x.*,b,a").first == "b"
    with pytest.raises(NoNamedTopic, match="names no topic to publish to"):
        _ = TopicNames.parse("^x.*").first
