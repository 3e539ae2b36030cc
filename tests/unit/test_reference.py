"""The reference is what the code says; links, paths and names in the pages exist."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


def test_the_reference_is_up_to_date() -> None:
    check = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_reference", "--check"], capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stderr


def without_code(page: str) -> str:
    return re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", without_code(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_or_heading(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text()))
    for link in links:
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link} in {page.name}"
        assert not anchor or anchor in anchors(target.read_text()), f"{link} in {page.name}"


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.name == "README.md" or str(page.relative_to(ROOT / "docs")) in index


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_exists(page: Path) -> None:
    ours = (folder.name for folder in ROOT.iterdir() if folder.is_dir() and folder.name[0] not in "._")
    folders = "|".join(name for name in ours if name != "build")  # what make has made
    for path in re.findall(rf"`((?:{folders})/[a-z0-9_./-]*)`", page.read_text()):
        assert (ROOT / path).exists(), f"{path} in {page.name}"


def names_in(file: Path) -> set[str]:
    """The functions, classes and methods of a module."""
    names = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{member.name}" for member in node.body if isinstance(member, ast.FunctionDef)}
    return names


def test_the_path_of_an_event_names_what_there_is() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    steps = re.findall(r"^\| \d+ \| `([\w/]+\.(?:py|sql))` \| (.*?) \|", page, re.MULTILINE)
    assert len(steps) > 20
    for path, functions in steps:
        for function in re.findall(r"`([\w.]+)`", functions):
            assert function in names_in(ROOT / path), f"{function} in {path}"


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 250


def test_no_requirement_numbers() -> None:
    """Numbers such as "R2" followed by a bracket mean nothing to readers: say what is meant."""
    folders = (
        "producers",
        "schemas",
        "topics",
        "streaming",
        "quality",
        "serving",
        "lineproof",
        "bench",
        "tests",
        "docs",
    )
    files = [file for folder in folders for file in (ROOT / folder).rglob("*") if file.suffix in (".py", ".md", ".sql")]
    assert not [file for file in files if re.search(r"\bR\d{1,2}[,)-]", file.read_text())]
