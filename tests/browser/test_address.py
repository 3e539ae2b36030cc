"""The address is the state: what is chosen is in it, and back and forward work."""

from collections.abc import Callable

from tests.browser.demo_views import address, answer
from tests.browser.watched import Watched

Tab = Callable[..., Watched]


def test_filters_are_in_the_address(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    page = watched.page
    watched.open("/runs")
    page.get_by_label("State").select_option("FAILED")
    page.wait_for_url("**/#/runs?state=FAILED")
    page.get_by_label("Trust").select_option("broken")
    page.wait_for_url("**/#/runs?state=FAILED&trust=broken")
    watched.settle()
    failed = answer(demo, "/runs", state="FAILED")["items"]
    assert page.locator("tbody tr").count() == len(failed)
    page.go_back()
    page.go_back()
    assert page.get_by_label("State").input_value() == ""
    page.go_forward()
    assert page.get_by_label("State").input_value() == "FAILED"


def test_typing_filters_without_an_entry_for_each_key(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    page = watched.page
    watched.open("/jobs")
    before = page.evaluate("() => history.length")
    page.get_by_label("Name", exact=True).press_sequentially("sroi")
    page.wait_for_url("**/#/jobs?q=sroi")
    watched.settle()
    assert page.locator("tbody tr").count() == 1
    assert page.evaluate("() => history.length") == before


def test_pages_follow_each_other(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    page = watched.page
    page.route("**/v1/runs?*", lambda route: route.continue_(url=f"{route.request.url}&limit=30"))
    page.route("**/v1/runs", lambda route: route.continue_(url=f"{route.request.url}?limit=30"))
    watched.open("/runs")
    first = page.locator("tbody tr a.mono").first.get_attribute("href")
    page.get_by_role("link", name="Next page").click()
    page.wait_for_url("**cursor=**")
    watched.settle()
    assert page.locator("tbody tr a.mono").first.get_attribute("href") != first
    page.go_back()
    watched.settle()
    assert page.locator("tbody tr a.mono").first.get_attribute("href") == first


def test_an_earlier_time_is_kept_on_every_link(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    page = watched.page
    watched.open("/")
    page.locator(".asof summary").click()
    page.get_by_label("or version").fill("0")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**as_of=0")
    watched.settle()
    assert "As known on" in watched.text(".banner")
    for link in page.locator(".views a, main a[href^='#/']").all():
        assert "as_of=0" in (link.get_attribute("href") or "")
    page.locator(".banner a").click()
    page.wait_for_function("() => !location.hash.includes('as_of')")
    assert page.locator(".banner").count() == 0


def test_what_is_no_time_is_explained(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open("/runs?as_of=yesterday")
    assert "neither a time nor a version" in watched.text(".problem")
    assert watched.page.get_by_role("button", name="Try again").count() == 1
    watched.errors.clear()  # the browser logs every answer with 400


def test_tabs_are_links(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(address(demo, "run"))
    watched.page.get_by_role("link", name="Facets").click()
    watched.page.wait_for_url("**tab=facets")
    watched.page.go_back()
    watched.page.locator("h2", has_text="Timeline").wait_for()


def test_the_time_view_compares(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open("/time")
    watched.page.get_by_role("button", name="a week ago").click()
    watched.page.wait_for_url("**at=**")
    watched.settle()
    runs = watched.page.locator("section", has_text="Runs").first
    assert "new since then" in runs.inner_text()
