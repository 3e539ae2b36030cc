"""Paths are split before they are decoded."""

from lineproof.serving.api.marquez.paths import Routes, segments


def test_an_encoded_slash_is_part_of_a_name() -> None:
    assert segments(b"/api/v1/namespaces/s3%3A%2F%2Flake/datasets/a%2Fb") == (
        "api", "v1", "namespaces", "s3://lake", "datasets", "a/b",
    )  # fmt: skip


def test_a_slash_at_the_end_and_the_query_do_not_count() -> None:
    assert segments(b"/lineage/?nodeId=a/b") == segments(b"/lineage") == ("lineage",)


def test_names_are_utf_8() -> None:
    assert segments(b"/%F0%9F%98%80/%ff") == ("😀", "\ufffd")


def test_fixed_parts_come_before_names() -> None:
    routes = Routes({"events/*": "namespace", "events/lineage": "all", "events": "events"})
    assert routes.find(("events", "lineage")) == ("all", ())
    assert routes.find(("events", "shop")) == ("namespace", ("shop",))
    assert routes.find(("events", "*")) == ("namespace", ("*",))
    assert routes.find(("events", "a", "b")) is None
    assert routes.find(("runs",)) is None
