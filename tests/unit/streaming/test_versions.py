"""Versions of Spark and Delta that the private calls were not tried with."""

import pytest

from lineproof.streaming.delta.private_api.versions import UntriedVersion, refuse_untried


def test_patch_releases_are_accepted() -> None:
    refuse_untried({"Spark": "4.1.3", "Delta": "4.4.0"})
    refuse_untried({"Spark": "4.1.99", "Delta": "4.4.7"})


@pytest.mark.parametrize(
    "found",
    [
        {"Spark": "4.2.0", "Delta": "4.4.0"},
        {"Spark": "4.1.3", "Delta": "4.40.0"},
        {"Spark": "4.1.3", "Delta": "(not found)"},
    ],
)
def test_other_versions_are_refused_with_what_to_do(found: dict[str, str]) -> None:
    with pytest.raises(UntriedVersion) as refused:
        refuse_untried(found)
    for part in ("Spark 4.1 ", "Delta 4.4", f"Spark {found['Spark']}", f"Delta {found['Delta']}", "Use Spark"):
        assert part in f"{refused.value} ", part
