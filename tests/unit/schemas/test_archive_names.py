"""The names under which the archive keeps the records of topics that were recreated."""

from lineproof.schemas.archive_names import name_in_archive, newest_name


def test_a_recreated_topic_gets_a_name_that_is_not_in_use() -> None:
    assert name_in_archive("events", []) == "events"
    assert name_in_archive("events", ["events"]) == "events#2"
    assert name_in_archive("events", ["events", "events#2", "other"]) == "events#3"
    assert name_in_archive("other", ["events"]) == "other"


def test_the_newest_name_has_the_highest_number() -> None:
    assert newest_name("events", ["other", "events-2"]) == "events"
    assert newest_name("events", ["events", "events#2", "events#10", "other#11"]) == "events#10"
