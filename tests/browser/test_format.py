"""Numbers and texts as the page writes them: its modules, called in the browser."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.watched import Watched

Tab = Callable[..., Watched]
CASES: dict[str, list[tuple[str, Any]]] = {
    "format.js": [
        ("count(null)", "\u2013"),
        ("count(1234567)", "1,234,567"),
        ("count('1152921504606846976')", "1,152,921,504,606,846,976"),
        ("counted(1, 'copy', 'copies')", "1 copy"),
        ("counted('2', 'record')", "2 records"),
        ("duration(undefined)", "\u2013"),
        ("duration(999)", "999 ms"),
        ("duration(10000)", "10.0 s"),
        ("duration(-1500)", "\u22121.5 s"),
        ("duration(3599999)", "60 min"),
        ("duration(3600000)", "1 h"),
        ("duration(5400000)", "1 h 30 min"),
        ("duration(7 * 86400000)", "7 d"),
        ("size(999)", "999 B"),
        ("size(1060)", "1.06 kB"),
        ("size(null)", "\u2013"),
        ("time('2026-01-31T10:00:00.123456Z', {ms: true, now: new Date('2026-01-31T23:00:00Z')})", "10:00:00.123"),
        ("time('2026-01-31T10:00:00Z', {now: new Date('2026-02-01T00:00:00Z')})", "2026-01-31 10:00:00"),
        ("ago(null)", "never"),
        ("ago('2026-01-31T10:00:00Z', Date.parse('2026-01-31T10:03:00Z'))", "3 min ago"),
    ],
    "text.js": [
        (r"visible('a\u001b[31m\u0000\u007f')", "a␛[31m␀␡"),
        (r"visible('\u202egnp.exe\u200b\ud800')", "⟨202E⟩gnp.exe⟨200B⟩⟨D800⟩"),
        (r"visible('a\nb\tc', {lines: true})", "a\nb\tc"),
        (r"visible('a\nb')", "a␊b"),
        ("visible('😀 שלום <b>')", "😀 שלום <b>"),
        ("shortened('😀😀😀😀', 3)", "😀😀…"),
        ("shortId('01a1ef07-0000-7000-8000-000000004e95')", "01a1ef07…4e95"),
    ],
    "router.js": [
        ("parse('#/run?run_id=a%2Fb%20c').params", {"run_id": "a/b c"}),
        ("parse('').path", "/"),
        ("link('/dataset', {name: 'a/b?c#d&e', field: null})", "#/dataset?name=a%2Fb%3Fc%23d%26e"),
        ("internal('javascript:alert(1)')", None),
        ("internal('https://example.com/#/runs')", None),
        ("internal('#/violations?kind=ledger')", "#/violations?kind=ledger"),
    ],
}


@pytest.mark.parametrize("module", CASES)
def test_texts(tab: Tab, empty: str, module: str) -> None:
    watched = tab(empty)
    watched.open("/")
    address = watched.page.locator(f"link[href$='lib/{module}']").get_attribute("href")
    for call, wanted in CASES[module]:
        name = call.partition("(")[0]
        said = watched.page.evaluate(
            f"async () => {{ const {{ {name} }} = await import('./{address}'); return {call}; }}"
        )
        assert said == wanted, call
