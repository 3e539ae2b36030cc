"""A page of the browser whose faults are not overlooked: console errors, requests to other hosts, faults of access."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
AXE = ROOT / "build" / "node" / "node_modules" / "axe-core" / "axe.min.js"
SHOTS = ROOT / "build" / "screenshots"
SETTLED = """async (seconds) => {
    const deadline = performance.now() + 1000 * seconds;
    for (let frames = 0; frames < 4; frames++) {
        await new Promise(requestAnimationFrame);
        const shown = document.querySelector("main h1, main .problem");
        if (!shown || document.querySelector("[aria-busy=true]")) frames = -1;
        if (performance.now() > deadline) throw new Error("The view is still waiting for an answer.");
    }
}"""
"""Resolves when a view shows its heading and waits for no answer, several frames long."""
PATIENCE_S = 20


class Watched:
    """One tab on one server."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.errors: list[str] = []
        self.foreign: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._asked(request.url))

    def open(self, view: str) -> None:
        """Show a view, such as `/runs?q=x`, from its address."""
        self.page.goto("about:blank")  # or a changed hash would load nothing
        self.page.goto(f"{self.url}/#{view}")
        self.page.evaluate(SETTLED, PATIENCE_S)

    def settle(self) -> None:
        """Wait until the view has its answers, after something was chosen."""
        self.page.evaluate(SETTLED, PATIENCE_S)

    def shot(self, name: str, *, whole: bool = True) -> None:
        """Keep a picture of the whole page, or of what the window shows."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=whole)

    def text(self, selector: str = "main") -> str:
        """What can be read."""
        return self.page.locator(selector).first.inner_text()

    def faults_of_access(self) -> list[str]:
        """The serious and critical faults that axe finds."""
        # The policy of the page forbids to add a script to it; what the debugger evaluates is not part of the page.
        self.page.evaluate(AXE.read_text())
        results: dict[str, Any] = self.page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
        return [_said(fault) for fault in results["violations"] if fault["impact"] in ("serious", "critical")]

    def overflow(self) -> int:
        """How many pixels wider than the window the page is."""
        width: int = self.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        return width

    def _asked(self, url: str) -> None:
        if not url.startswith((f"{self.url}/", "about:", "blob:", "data:")):
            self.foreign.append(url)


def _said(fault: dict[str, Any]) -> str:
    nodes = [f"{node['html'][:200]} {node.get('failureSummary', '')[:300]}" for node in fault["nodes"][:3]]
    return f"{fault['id']}: {nodes}"


@contextmanager
def watching(browser: Browser, url: str, **options: Any) -> Iterator[Watched]:
    """A new tab, with nothing kept from others; fails at the end if anything was wrong."""
    with browser.new_context(**{"viewport": {"width": 1440, "height": 860}, **options}) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url)
        watched = Watched(context.new_page(), url)
        yield watched
        assert not watched.errors, watched.errors
        assert not watched.foreign, watched.foreign
