"""A browser, and servers over the tables of the demo, over none, and over tables that tests make.

`DEMO_HOME` names a home in which the demo has run before, which saves a minute while working on the page.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.server import serving
from tests.unit.serving.answers.world import make_world

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.watched import Watched

HERE = Path(__file__).parent
DEMO_S = 300


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(name="browser", scope="session")
def _browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        assert chromium, "There is no chromium: run `make test-browser`."
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(name="demo", scope="session")
def _demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server over what `lineproof demo` makes."""
    home = tmp_path_factory.mktemp("demo")
    if made := os.environ.get("DEMO_HOME"):
        shutil.copytree(made, home, dirs_exist_ok=True)
    else:
        command = [sys.executable, "-m", "lineproof", "demo", f"--set=home={home}"]
        subprocess.run(command, check=True, timeout=DEMO_S, cwd=home, stdout=subprocess.DEVNULL)
    with serving(home / "tables", home) as url:
        yield url


@pytest.fixture(name="empty", scope="session")
def _empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server without any table."""
    home = tmp_path_factory.mktemp("empty")
    with serving(home / "tables", home) as url:
        yield url


@pytest.fixture(name="world", scope="session")
def _world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server over tables with every fault and hostile names."""
    home = tmp_path_factory.mktemp("world")
    with serving(make_world(home / "tables"), home) as url:
        yield url


@pytest.fixture(name="tab")
def _tab(browser: "Browser") -> "Iterator[Callable[..., Watched]]":
    """Opens a tab on a server; at the end, nothing may have gone wrong in it."""
    from tests.browser.watched import watching

    with ExitStack() as stack:

        def opened(url: str, **options: Any) -> "Watched":
            return stack.enter_context(watching(browser, url, **options))

        yield opened
