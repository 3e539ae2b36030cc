"""Search, help and the theme, with the keyboard."""

from collections.abc import Callable

from tests.browser.watched import Watched

Tab = Callable[..., Watched]


def test_search_with_the_arrows(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    page = watched.page
    watched.open("/")
    page.keyboard.press("/")
    page.keyboard.type("sroi")
    page.locator("[role=option]").first.wait_for()
    assert watched.faults_of_access() == []
    watched.shot("search-box")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    chosen = page.locator("[role=option][aria-selected=true]")
    assert chosen.get_attribute("id") == page.locator("#search").get_attribute("aria-activedescendant")
    name = chosen.locator("bdi").first.inner_text()
    page.keyboard.press("Enter")
    page.locator("h1", has_text=name.split(".")[0]).wait_for()
    assert page.locator(".results").count() == 0


def test_search_finds_every_kind(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open("/search?q=sroi")
    titles = watched.page.locator("h2").all_inner_texts()
    assert {title.lower() for title in titles} >= {"datasets", "jobs", "columns"}


def test_search_says_when_there_is_nothing(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    page = watched.page
    watched.open("/")
    page.keyboard.press("/")
    page.keyboard.type("zzz<script>")
    page.get_by_text("has “zzz<script>” in its name").wait_for()
    page.keyboard.press("Escape")
    assert page.locator(".results").count() == 0


def test_help_opens_and_closes(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    page = watched.page
    watched.open("/")
    page.keyboard.press("?")
    page.locator("dialog[open]").wait_for()
    assert watched.faults_of_access() == []
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")


def test_the_first_stop_skips_the_header(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    page = watched.page
    watched.open("/runs")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('main') !== null")


def test_the_focus_moves_to_a_new_view(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open("/")
    watched.page.get_by_role("link", name="Runs", exact=True).click()
    watched.settle()
    assert watched.page.evaluate("() => document.activeElement.id") == "main"
    assert watched.page.title() == "Runs · lineproof"


def test_the_theme_is_kept(tab: Tab, demo: str) -> None:
    watched = tab(demo, color_scheme="dark")
    page = watched.page
    watched.open("/")
    assert theme(watched) == "dark"
    page.locator("#theme").click()  # auto, then dark
    page.locator("#theme").click()
    assert theme(watched) == "light"
    watched.open("/runs")
    assert theme(watched) == "light"
    page.locator("#theme").click()
    assert theme(watched) == "dark"
    page.emulate_media(color_scheme="light")
    page.locator("[data-theme=light]").wait_for()


def theme(watched: Watched) -> str:
    shown: str = watched.page.evaluate("() => document.documentElement.dataset.theme")
    return shown
