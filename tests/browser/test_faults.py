"""What is broken is shown as broken, with the evidence; what is unknown is not shown as proven."""

from collections.abc import Callable

import pytest

from tests.browser.demo_views import answer
from tests.browser.watched import Watched
from tests.unit.serving.answers.world import ALTERED, GAP, RESOLVED, UNBALANCED, UNPROVEN

Tab = Callable[..., Watched]


def test_a_broken_chain(tab: Tab, world: str) -> None:
    """A block for each certificate, and both hashes of the one that does not hold."""
    watched = tab(world)
    watched.open("/proof?tab=certificates")
    watched.shot("broken-chain")
    stated = [one for chain in answer(world, "/certificates/chains")["items"] for one in chain["certificates"]]
    assert watched.page.locator(".link").count() == len(stated)
    for verdict in ("altered", "fork", "gap", "unknown algorithm"):
        assert watched.page.locator(".faults .pill", has_text=verdict).count() > 0
    [altered] = [one for one in stated if one["verdict"] == "altered"]
    fault = watched.page.locator(".faults li", has_text="altered").first.inner_html()
    assert altered["chain_hash"] in fault
    assert altered["computed_hash"] in fault
    assert altered["chain_hash"] != altered["computed_hash"]
    assert watched.faults_of_access() == []


@pytest.mark.parametrize(("run_id", "state"), [(ALTERED, "broken"), (GAP, "unknown"), (UNPROVEN, "unknown")])
def test_the_chain_on_the_page_of_a_run(tab: Tab, world: str, run_id: str, state: str) -> None:
    watched = tab(world)
    watched.open(f"/run?run_id={run_id}")
    watched.settle()
    assert watched.page.locator(f".answer .pill.{state}").count() == 1
    assert watched.page.locator(".answer .pill.proven").count() == 0
    if run_id != UNPROVEN:
        assert watched.page.locator(f".link.marked.{state}").count() == 1
    watched.shot(f"run-{state}")


def test_a_ledger_beyond_what_javascript_can_count(tab: Tab, world: str) -> None:
    watched = tab(world)
    watched.open(f"/run?run_id={UNBALANCED}")
    assert f"{2**60:,} records read" in watched.text(".ledger")
    assert "25 records missing" in watched.text()


def test_numbers_that_never_arrived(tab: Tab, world: str) -> None:
    watched = tab(world)
    watched.open("/proof?tab=gaps")
    watched.shot("gaps-broken")
    assert "2 numbers missing" in watched.text()
    assert watched.page.locator(".hole.unknown").count() > 0
    assert watched.page.locator(".hole.broken").count() > 0
    assert watched.faults_of_access() == []


def test_violations_by_kind_and_state(tab: Tab, world: str) -> None:
    watched = tab(world)
    watched.open("/violations?stands=all")
    watched.shot("violations-all")
    page = watched.page
    everything = page.locator(".feed > li").count()
    page.get_by_label("Kind").select_option("ledger")
    page.wait_for_url("**kind=ledger**")
    watched.settle()
    assert 0 < page.locator(".feed > li").count() < everything
    assert RESOLVED[-4:] in watched.text(".feed")
    page.get_by_label("State").select_option("false")
    page.wait_for_url("**stands=false**")
    watched.settle()
    assert page.locator(".feed .pill.proven").count() == page.locator(".feed > li").count() > 0
    assert page.locator(".feed .pill.broken").count() == 0


def test_letters_are_shown_and_not_interpreted(tab: Tab, world: str) -> None:
    watched = tab(world)
    watched.open("/dead-letters")
    watched.page.locator(".feed summary", has_text="The record").first.click()
    assert "<script>" in watched.text(".feed pre")
    assert "sent again" in watched.text(".feed")


def test_tests_that_could_not_run_are_unknown(tab: Tab, world: str) -> None:
    watched = tab(world)
    watched.open("/quality")
    watched.shot("quality-faults")
    row = watched.page.locator("tr", has_text="no such column")
    assert row.locator(".pill.unknown").count() == 1
    assert watched.faults_of_access() == []


def test_the_overview_counts_them(tab: Tab, world: str) -> None:
    watched = tab(world)
    watched.open("/")
    watched.shot("overview-faults")
    assert watched.page.locator(".answer .pill.broken").count() == 1
    assert watched.page.locator(".tile .broken-text").count() > 0
