"""The list of critical pipelines in conf/pipelines.yaml."""

from collections.abc import Callable
from importlib.resources import files

import pytest

from lineproof.producers.pipelines.catalog import UnusableCatalog, catalog, parse_catalog
from lineproof.producers.pipelines.runner import PIPELINES
from tests.unit.producers.pipelines.world import EXPECTED


def test_the_catalog_matches_the_code() -> None:
    assert [listed.name for listed in catalog()] == list(PIPELINES) == list(EXPECTED)
    assert {listed.service for listed in catalog()} == {"impact-in", "q2q-ai", "analytics", "reporting"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: text.replace("pipelines:", "pipes:"), "no list"),
        (lambda text: text.replace("goodera-sync", "benevity-sync"), "listed twice"),
        (lambda text: text.replace("owner: team-analytics", "owner: 7", 1), "sroi-calculation.* no owner"),
        (lambda text: text.replace("freshness_minutes: 360", "freshness_minutes: soon", 1), "no freshness_minutes"),
        (lambda text: text.replace("freshness_minutes: 360", "freshness_minutes: 0", 1), "no freshness_minutes"),
        (lambda text: text.replace("service: impact-in", "servcie: impact-in", 1), "unknown field servcie"),
        (lambda text: text.replace("https://", "ftp://"), "https"),
        (lambda _: "pipelines: [x]", "not a mapping"),
        (lambda _: "{", "not YAML"),
    ],
)
def test_an_invalid_catalog_raises_with_the_entry(change: Callable[[str], str], problem: str) -> None:
    text = files("lineproof.conf").joinpath("pipelines.yaml").read_text()
    with pytest.raises(UnusableCatalog, match=problem):
        parse_catalog(change(text))
