"""The pages of OpenLineage clients: complete, linked, and each either tested or marked."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {path.stem: path.read_text() for path in (ROOT / "docs" / "clients").glob("*.md")}
INDEX = PAGES.pop("README")
TESTED = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "integrations").glob("test_*.py")}


def test_every_page_is_linked() -> None:
    assert {*re.findall(r"^\| \[.*?\]\((\w+)\.md\)", INDEX, re.MULTILINE)} == {*PAGES}
    index = (ROOT / "docs" / "README.md").read_text()
    assert {*re.findall(r"\(clients/(\w+)\.md\)", index)} == {"README", *PAGES}


def test_every_client_is_tested_or_says_that_it_is_not() -> None:
    assert PAGES.keys() >= TESTED
    for name, page in PAGES.items():
        assert "\n## By URL\n" in page, name
        assert ("not tested here" in page) == (name not in TESTED), name
        [row] = [line for line in INDEX.splitlines() if f"({name}.md)" in line and line.startswith("|")]
        assert ("not tested here" in row) == (name not in TESTED), name


def test_links_lead_to_files() -> None:
    for page in (INDEX, *PAGES.values()):
        for link in re.findall(r"\]\(([^)#:]+)[)#]", page):
            assert (ROOT / "docs" / "clients" / link).exists(), link
