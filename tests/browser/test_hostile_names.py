"""Names are shown as they are, everywhere, and do nothing."""

import unicodedata
from collections.abc import Callable
from urllib.parse import urlencode

import pytest

from tests.browser.watched import Watched
from tests.unit.serving.answers.world import HOSTILE

Tab = Callable[..., Watched]
LISTS = (
    *("/", "/runs", "/jobs", "/datasets", "/violations?stands=all", "/search?q=script"),
    "/time?at=2020-01-01T00:00:00Z",
)


def shown(name: str) -> str:
    """As lib/text.js shows it: a picture or a code for what cannot be seen."""
    return "".join(
        chr(0x2400 + ord(one)) if ord(one) < 0x20 else f"⟨{ord(one):04X}⟩" if unicodedata.category(one) == "Cf" else one
        for one in name
    )


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_is_shown_as_it_is(tab: Tab, world: str, name: str) -> None:
    watched = tab(world)
    watched.page.on("dialog", lambda dialog: watched.errors.append(dialog.message))
    query = urlencode({"namespace": name, "name": name})
    for view in ("/dataset", "/job"):
        watched.open(f"{view}?{query}")
        assert watched.page.locator("h1 bdi").first.text_content() == shown(name)
        assert watched.page.locator(".problem").count() == 0
    watched.page.locator(".run-bars a").first.click()
    watched.settle()
    assert watched.page.locator("h1 bdi").first.text_content() == shown(name)
    watched.page.set_viewport_size({"width": 360, "height": 740})
    for view in ("/dataset", "/job"):
        watched.open(f"{view}?{query}")
        assert watched.overflow() <= 0


@pytest.mark.parametrize("view", LISTS)
def test_lists_of_them(tab: Tab, world: str, view: str) -> None:
    watched = tab(world)
    watched.page.on("dialog", lambda dialog: watched.errors.append(dialog.message))
    watched.open(view)
    name = view.strip("/").partition("?")[0] or "overview"
    watched.shot(f"hostile-{name}")
    assert watched.page.locator("main script").count() == 0
    assert watched.faults_of_access() == []
    for width in (1440, 360):
        watched.page.set_viewport_size({"width": width, "height": 740})
        assert watched.overflow() <= 0
    watched.shot(f"hostile-{name}-phone")


def test_the_search_box_shows_them(tab: Tab, world: str) -> None:
    watched = tab(world)
    watched.open("/")
    watched.page.keyboard.press("/")
    watched.page.keyboard.type("gnp")
    option = watched.page.locator("[role=option]").first
    assert "⟨202E⟩gnp.exe⟨2066⟩" in option.inner_text()
    option.click()
    watched.settle()
    assert "⟨202E⟩" in watched.text("h1")
