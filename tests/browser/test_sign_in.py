"""A server with keys: the page is public, the answers are not."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.browser.server import serving
from tests.browser.watched import Watched

Tab = Callable[..., Watched]


def add_key(home: Path, role: str) -> str:
    command = [sys.executable, "-m", "lineproof", "keys", "add", role, "--role", role, f"--set=home={home}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_key_opens_the_page_for_this_tab(tab: Tab, tmp_path: Path) -> None:
    key = add_key(tmp_path, "read")
    with serving(tmp_path / "tables", tmp_path) as url:
        watched = tab(url)
        page = watched.page
        watched.open("/runs?state=FAILED")
        watched.shot("sign-in")
        assert watched.text("h1") == "Sign in"
        assert watched.faults_of_access() == []
        page.get_by_label("API key").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("This key is not accepted").wait_for()
        page.get_by_label("API key").fill(key)
        page.keyboard.press("Enter")
        page.get_by_text("No run has all of this").wait_for()
        page.reload()
        watched.settle()
        assert "No run has all of this" in watched.text()
        assert key not in page.url
        assert page.evaluate("() => localStorage.length") == 0
        page.keyboard.press("?")
        page.get_by_role("button", name="Sign out").click()
        page.locator("h1", has_text="Sign in").wait_for()
        watched.errors.clear()  # the browser logs every answer with 401


def test_a_key_that_may_only_write_is_told_so(tab: Tab, tmp_path: Path) -> None:
    key = add_key(tmp_path, "write")
    with serving(tmp_path / "tables", tmp_path) as url:
        watched = tab(url)
        watched.open("/runs")
        watched.page.get_by_label("API key").fill(key)
        watched.page.keyboard.press("Enter")
        watched.page.locator(".problem").wait_for()
        assert "read" in watched.text(".problem")
        watched.errors.clear()  # the browser logs every answer with 403
