"""Write docs/reference/ from the code; with --check, only say which pages are out of date.

Run it with `make reference`. It starts no JVM. `tests/unit/test_reference.py` runs the check.
"""

import sys
from collections.abc import Callable

from commands_page import commands_page
from errors_page import errors_page
from python_page import python_page
from settings_page import settings_page
from source import ROOT
from tables_page import tables_page
from topics_page import topics_page
from views_page import views_page

FOLDER = ROOT / "docs" / "reference"
NOTE = "<!-- Made by docs/make_reference. Do not edit: change the code, then run `make reference`. -->"

PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "tables.md": tables_page,
    "views.md": views_page,
    "topics.md": topics_page,
    "commands.md": commands_page,
    "python.md": python_page,
    "errors.md": errors_page,
}


def main() -> None:
    """Compare all pages with the code, and write those that differ."""
    FOLDER.mkdir(exist_ok=True)
    pages = {FOLDER / name: f"{NOTE}\n\n{page()}\n" for name, page in PAGES.items()}
    stale = [file for file, page in pages.items() if not file.exists() or file.read_text() != page]
    if "--check" in sys.argv:
        names = ", ".join(file.name for file in stale)
        sys.exit(f"Out of date in docs/reference: {names}. Run `make reference`." if stale else 0)
    for file in stale:
        file.write_text(pages[file])
        sys.stdout.write(f"{file.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
