"""The lineage graph: opening and closing nodes, the path of a column, exports, thousands of nodes."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from tests.browser.server import serving
from tests.browser.watched import Watched
from tests.tables import tables_of
from tests.unit.serving.answers.lineage_events import pipeline
from tests.unit.serving.answers.world import HOSTILE, hostile_events

if TYPE_CHECKING:
    from playwright.sync_api import Locator

Tab = Callable[..., Watched]
START = "/lineage?kind=dataset&namespace=teei.postgres.public&name=sroi_calculations"
COLUMN = "/lineage?kind=dataset&namespace=teei.postgres.public&name=outcome_scores&field=score"
PNG = b"\x89PNG\r\n\x1a\n"
WIDE = 3000


@pytest.fixture(name="shop", scope="module")
def _shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over a pipeline whose rows disagree, hostile names, and a job that writes thousands of datasets."""
    home = tmp_path_factory.mktemp("shop")
    outputs = [{"namespace": "wide", "name": f"table {number:04}"} for number in range(WIDE)]
    inputs = [{"namespace": "wide", "name": "source"}]
    job = {"namespace": "wide", "name": "explode"}
    wide = {"run": {"runId": "wide"}, "job": job, "inputs": inputs, "outputs": outputs, "eventType": "COMPLETE"}
    first = json.loads(pipeline()[0])
    events = [*pipeline(), *hostile_events(), json.dumps(first | wide).encode()]
    with serving(tables_of(home / "tables", events), home) as url:
        yield url


def nodes(watched: Watched) -> set[str]:
    return {*watched.page.locator(".stage .node .title").all_text_contents()}


def node(watched: Watched, name: str) -> "Locator":
    return watched.page.locator(".stage .node").filter(has=watched.page.get_by_text(name, exact=True))


def place(watched: Watched, name: str) -> tuple[float, float]:
    box = node(watched, name).locator(".box").bounding_box()
    assert box
    return round(box["x"]), round(box["y"])


def is_near(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return abs(one[0] - other[0]) <= 2 and abs(one[1] - other[1]) <= 2


def wait_for(watched: Watched, name: str, count: int = 1) -> None:
    watched.page.wait_for_function(
        """([name, count]) =>
            [...document.querySelectorAll('.stage .title')].filter((e) => e.textContent === name).length === count""",
        arg=[name, count],
    )


def downloaded(watched: Watched, label: str) -> tuple[str, bytes]:
    with watched.page.expect_download() as waiting:
        watched.page.get_by_role("button", name=label, exact=True).click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_use_it(tab: Tab, demo: str, scheme: str) -> None:
    watched = tab(demo, color_scheme=scheme)
    for name, view in (
        ("lineage", START),
        ("lineage-deep", f"{START}&up=6&down=6"),
        ("lineage-column", COLUMN),
        ("lineage-choose", "/lineage"),
    ):
        watched.page.set_viewport_size({"width": 1500, "height": 860})
        watched.open(view)
        watched.shot(f"{name}-{scheme}")
        assert watched.faults_of_access() == []
        watched.page.set_viewport_size({"width": 360, "height": 740})
        watched.shot(f"{name}-{scheme}-phone")
        assert watched.overflow() <= 0


def test_it_opens_with_the_neighbours(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(START)
    assert nodes(watched) == {"sroi_calculations", "sroi-calculation", "aggregation", "report-generation"}
    assert watched.text("h1") == "sroi_calculations"
    assert node(watched, "sroi-calculation").locator(".bar").count() == 5
    for name in nodes(watched):
        title, box = (node(watched, name).locator(of).bounding_box() for of in (".title", ".box"))
        assert title
        assert box
        assert title["x"] + title["width"] <= box["x"] + box["width"], f"{name} is cut off"


def test_opening_and_closing_moves_nothing_else(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(START)
    before = {name: place(watched, name) for name in ("sroi-calculation", "sroi_calculations")}
    node(watched, "sroi-calculation").locator(".side.plus.up").click()
    wait_for(watched, "buddy_system_events")
    assert all(is_near(place(watched, name), at) for name, at in before.items())
    assert "open=up" in watched.page.url
    watched.page.reload()
    watched.settle()
    assert "buddy_system_events" in nodes(watched), "the address has what was opened"
    node(watched, "sroi-calculation").locator(".target").click()
    at = place(watched, "sroi-calculation")
    node(watched, "sroi-calculation").locator(".side.minus.up").click()
    wait_for(watched, "buddy_system_events", 0)
    assert is_near(place(watched, "sroi-calculation"), at)
    watched.page.go_back()
    wait_for(watched, "buddy_system_events")


def test_details_of_the_chosen_node(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(START)
    details = watched.page.get_by_role("region", name="The selected node")
    details.get_by_role("heading", name="Columns").wait_for()
    node(watched, "aggregation").locator(".target").click()
    details.get_by_role("heading", name="Runs").wait_for()
    assert details.locator(".details-title h2").inner_text() == "aggregation"
    assert "Can I trust it?".upper() in details.inner_text().upper()
    assert "sel=job" in watched.page.url


def test_the_path_of_a_column(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(START)
    watched.page.locator(".short-table a", has_text="company_id").click()
    watched.page.locator(".stage .column.chosen").wait_for()
    assert "field=company_id" in watched.page.url
    watched.open(COLUMN)
    fields = {*watched.page.locator(".stage .field").all_text_contents()}
    assert "feedback_text" in fields
    assert fields.isdisjoint({"sentiment", "company_id", "period"})
    watched.page.locator(".stage .column", has_text="feedback_text").click()
    watched.page.locator(".stage .column.chosen", has_text="feedback_text").wait_for()
    assert "field=feedback_text" in watched.page.url


def test_overlays(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(START)
    watched.page.get_by_label("Overlay").select_option("quality")
    watched.page.locator(".stage .status", has_text="no tests").wait_for()
    assert "overlay=quality" in watched.page.url
    watched.page.get_by_label("Overlay").select_option("rows")
    watched.page.locator(".stage .edge-label").first.wait_for()


def test_rows_that_disagree_are_said_on_the_edge(tab: Tab, shop: str) -> None:
    watched = tab(shop)
    watched.open("/lineage?kind=dataset&namespace=shop&name=orders")
    labels = watched.page.locator(".stage .edge-label text").all_text_contents()
    assert {*labels} == {"400 ≠ 398", "400 ≠ 401"}
    assert watched.page.locator(".stage .edge.broken.disagrees").count() == 1
    watched.shot("lineage-disagree")


def test_a_fold_opens(tab: Tab, shop: str) -> None:
    watched = tab(shop)
    watched.open("/lineage?kind=dataset&namespace=shop&name=orders")
    watched.page.get_by_role("button", name="Fit", exact=True).click()
    watched.page.locator(".stage .node.fold .target").wait_for()
    at = place(watched, "orders")
    watched.page.locator(".stage .node.fold .target", has_text="29 more").click()
    watched.page.wait_for_function("() => document.querySelector('.stage').dataset.nodes === '43'")
    assert is_near(place(watched, "orders"), at)


def test_exports(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(f"{START}&up=3&down=3")
    name, svg = downloaded(watched, "SVG")
    assert name == "lineage-sroi_calculations.svg"
    picture = ElementTree.fromstring(svg)
    text = "".join(picture.itertext())
    assert "sroi_valuation_weights" in text
    assert "var(--" not in text
    assert picture.get("width")
    name, png = downloaded(watched, "PNG")
    assert name.endswith(".png")
    assert png.startswith(PNG)
    assert len(png) > 10_000, "an empty picture is smaller"
    name, table = downloaded(watched, "CSV")
    assert name.endswith(".csv")
    lines = [*csv.DictReader(io.StringIO(table.decode()))]
    assert "sroi_valuation_weights" in {line["source_name"] for line in lines}
    watched.page.get_by_role("button", name="Copy link").click()
    assert watched.page.evaluate("() => navigator.clipboard.readText()") == watched.page.url


def test_the_keyboard(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(START)
    watched.page.locator(".stage .target[tabindex='0']").focus()

    def focused() -> str:
        return str(watched.page.evaluate("() => document.activeElement.querySelector('title')?.textContent ?? ''"))

    for key, name in (
        ("ArrowRight", "aggregation"),
        ("ArrowDown", "report-generation"),
        ("ArrowLeft", "sroi_calculations"),
        ("ArrowLeft", "sroi-calculation"),
    ):
        watched.page.keyboard.press(key)
        watched.page.wait_for_function(
            "(name) => document.activeElement.querySelector('title')?.textContent.includes(` ${name} `)", arg=name
        )
    watched.page.keyboard.press("+")
    wait_for(watched, "buddy_system_events")
    assert "sroi-calculation" in focused()
    watched.page.keyboard.press("-")
    wait_for(watched, "buddy_system_events", 0)
    watched.page.keyboard.press("Enter")
    watched.page.locator(".details-title h2", has_text="sroi-calculation").wait_for()


def test_the_same_as_a_list(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(START)
    watched.page.get_by_text("As a list: 4 nodes").click()
    rows = watched.page.get_by_role("table", name="Nodes of the graph").locator("tbody tr")
    rows.first.wait_for()
    assert rows.count() == 4
    rows.filter(has_text="aggregation").get_by_role("button", name=re.compile("Show 3 more")).click()
    wait_for(watched, "outcome_scores")
    assert watched.faults_of_access() == []


def test_the_part_in_view_is_in_the_address(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(START)
    box = watched.page.locator(".stage").bounding_box()
    assert box
    x, y = box["x"] + 60, box["y"] + 60
    watched.page.mouse.move(x, y)
    watched.page.mouse.down()
    watched.page.mouse.move(x + 120, y + 40, steps=4)
    watched.page.mouse.up()
    watched.page.mouse.wheel(0, -200)
    watched.page.wait_for_url(re.compile("view="))
    at = place(watched, "sroi_calculations")
    watched.page.reload()
    watched.settle()
    assert is_near(place(watched, "sroi_calculations"), at)


def test_an_earlier_time(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(f"{START}&as_of=2000-01-01T00:00:00Z")
    assert watched.page.locator(".problem.missing").count() == 1
    watched.errors.clear()  # the browser reports the 404


def test_lineage_of_a_run(tab: Tab, demo: str) -> None:
    watched = tab(demo)
    watched.open(START)
    node(watched, "sroi-calculation").locator(".target").click()
    watched.page.get_by_role("link", name="Lineage of the last run").click()
    watched.page.locator("h1", has_text="Run").wait_for()
    assert "workday-sync" in nodes(watched)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(tab: Tab, shop: str, name: str) -> None:
    watched = tab(shop)
    watched.open(f"/lineage?kind=job&namespace={quote(name, safe='')}&name={quote(name, safe='')}")
    assert watched.page.locator(".stage").get_attribute("data-nodes") == "3"
    watched.page.locator(".stage .node.dataset .target").first.click()
    watched.page.get_by_role("heading", name="Columns").wait_for()
    for box, title in zip(
        watched.page.locator(".stage .box").all(), watched.page.locator(".stage .title").all(), strict=True
    ):
        outer, inner = box.bounding_box(), title.bounding_box()
        assert outer
        assert inner
        assert inner["x"] >= outer["x"] - 1
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
    _, svg = downloaded(watched, "SVG")
    ElementTree.fromstring(svg)


def test_thousands_of_nodes_stay_usable(tab: Tab, shop: str) -> None:
    watched = tab(shop)
    watched.open(f"/lineage?kind=dataset&namespace=wide&name=source&down=2&open={quote('fold:down:job:wide:explode')}")
    stage = watched.page.locator(".stage")
    assert stage.get_attribute("data-nodes") == str(WIDE)
    assert "only 3,000 nodes are shown" in watched.text(".stage-note")
    assert int(stage.get_attribute("data-drawn") or 0) < 200, "what is not in view is not made"
    transform = "() => document.querySelector('.world').getAttribute('transform')"
    box = stage.bounding_box()
    assert box
    watched.page.mouse.move(box["x"] + 300, box["y"] + 60)
    for act in (lambda: watched.page.mouse.wheel(0, 400), lambda: watched.page.mouse.wheel(0, -200), _dragged(watched)):
        before = watched.page.evaluate(transform)
        act()
        watched.page.wait_for_function(f"(before) => ({transform})() !== before", arg=before)
    watched.page.get_by_role("button", name="Fit", exact=True).click()
    watched.page.wait_for_function("() => !document.querySelector('canvas.far').hidden")
    watched.page.wait_for_function("() => Number(document.querySelector('.stage').dataset.drawn) < 10")
    watched.shot("lineage-3000")
    _, png = downloaded(watched, "PNG")
    assert png.startswith(PNG)


def _dragged(watched: Watched) -> Callable[[], Any]:
    def drag() -> None:
        watched.page.mouse.down()
        watched.page.mouse.move(500, 500, steps=5)
        watched.page.mouse.up()

    return drag


def test_an_empty_installation(tab: Tab, empty: str) -> None:
    watched = tab(empty)
    watched.open("/lineage")
    assert watched.page.locator(".problem").count() == 0
    watched.shot("lineage-empty")
    watched.open(START)
    assert "There is no dataset" in watched.text(".problem")
    watched.errors.clear()  # the browser reports the 404
