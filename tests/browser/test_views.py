"""Every view over the tables of the demo: it has an answer, no fault, and fits a phone."""

from collections.abc import Callable

import pytest

from tests.browser.demo_views import VIEWS, address, answer
from tests.browser.watched import Watched

Tab = Callable[..., Watched]


@pytest.mark.parametrize("view", VIEWS)
def test_everyone_can_use_it(tab: Tab, demo: str, view: str) -> None:
    """In light and dark, and on a phone; and each view is shown whole, without what it could not draw."""
    watched = tab(demo, color_scheme="light")
    watched.open(address(demo, view))
    text = watched.text()
    assert not any(wrong in text for wrong in ("undefined", "[object", "NaN", "cannot be drawn")), text
    for scheme in ("light", "dark"):
        watched.page.emulate_media(color_scheme=scheme)
        watched.shot(f"{view}-{scheme}")
        assert watched.faults_of_access() == []
    watched.page.set_viewport_size({"width": 360, "height": 740})
    watched.shot(f"{view}-phone")
    assert watched.overflow() <= 0


@pytest.mark.parametrize(("view", "scheme"), [("overview", "light"), ("lineage", "dark")])
def test_pictures_of_the_readme(tab: Tab, demo: str, view: str, scheme: str) -> None:
    """`make screenshots` copies them to docs/images."""
    watched = tab(demo, color_scheme=scheme)
    watched.open(address(demo, view))
    watched.page.locator(".plot canvas, .stage .node").first.wait_for()
    watched.shot(f"{view}-{scheme}-window", whole=False)


def test_the_overview_answers_its_question(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open("/")
    said = answer(demo, "/overview")
    assert watched.text("h1") == said["question"]
    assert said["answer"] in watched.text(".answer")
    tile = watched.page.locator(".tile", has_text="Violations")
    assert tile.locator(".tile-value").inner_text() == "1"
    tile.locator("summary").click()
    assert tile.locator("pre").inner_text() == next(one["sql"] for one in said["tiles"] if one["id"] == "violations")
    tile.locator(".tile-value a").click()
    watched.settle()
    assert watched.page.locator(".feed > li").count() == 1
    assert "leaking" in watched.text(".feed")


def test_the_run_says_what_is_missing(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(address(demo, "run"))
    text = watched.text()
    assert "25 records missing" in text
    assert watched.page.locator(".part.missing").count() == 1
    assert "late" in text


def test_the_ledgers_link_to_their_runs(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open("/proof?verdict=unbalanced")
    assert watched.page.locator("tbody tr").count() == 1
    watched.page.locator("tbody tr a.mono").click()
    watched.settle()
    assert "not successful" in watched.text(".answer")


def test_dead_letters_have_the_command_that_sends_them_again(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open("/dead-letters?reason=invalid_json")
    assert watched.page.locator(".feed > li").count() == 1
    watched.page.locator(".feed button", has_text="Copy").click()
    assert watched.page.evaluate("() => navigator.clipboard.readText()").startswith("lineproof dead-letters redrive ")
    assert watched.page.locator(".feed button", has_text="Copied").count() == 1


def test_facets_can_be_searched(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(address(demo, "run-facets"))
    watched.page.get_by_label("Search in the facets").fill("processedcount")
    watched.page.locator(".tree .key", has_text="processedCount").wait_for()
    assert "ownership" not in watched.text(".tree")
