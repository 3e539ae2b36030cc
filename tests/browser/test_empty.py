"""An installation without any table looks intended, in every view."""

from collections.abc import Callable

import pytest

from tests.browser.watched import Watched

Tab = Callable[..., Watched]
VIEWS = {
    "/": "No events yet",
    "/runs": "No run yet",
    "/jobs": "No job yet",
    "/datasets": "No dataset yet",
    "/quality": "No test was ever run",
    "/proof": "No run stated a ledger",
    "/proof?tab=certificates": "No certificate has arrived",
    "/proof?tab=gaps": "No number is missing",
    "/violations": "No check fails",
    "/dead-letters": "Every record could be used",
    "/defects": "Every event is as the specification says",
    "/time?at=2026-01-31T10:00:00Z": "Nothing has changed since then",
    "/search?q=x": "Nothing has this in its name",
}


@pytest.mark.parametrize("view", VIEWS)
def test_it_says_what_is_missing(tab: Tab, empty: str, view: str) -> None:
    watched = tab(empty)
    watched.open(view)
    assert VIEWS[view] in watched.text()
    assert watched.page.locator(".problem").count() == 0
    assert watched.faults_of_access() == []


def test_the_first_steps_can_be_copied(tab: Tab, empty: str) -> None:
    watched = tab(empty)
    watched.open("/")
    watched.shot("empty")
    watched.page.locator(".command", has_text="OPENLINEAGE_URL").get_by_role("button").click()
    assert watched.page.evaluate("() => navigator.clipboard.readText()") == f"export OPENLINEAGE_URL={empty}"


@pytest.mark.parametrize("view", ["/run?run_id=nothing", "/job?namespace=a&name=b", "/dataset?namespace=a&name=b"])
def test_what_is_not_there_is_explained(tab: Tab, empty: str, view: str) -> None:
    watched = tab(empty)
    watched.open(view)
    assert "There is no" in watched.text(".problem")
    watched.errors.clear()  # the browser logs every answer with 404
