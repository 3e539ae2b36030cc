"""The format number of the tables: it says which releases can read and write them.

It is a property of each table. Tables from before there was a number have format 0.
"""

from collections.abc import Mapping
from importlib.metadata import version

from lineproof.schemas.errors import LineproofError

FORMAT = 3
"""The format that this release writes. `streaming/recovery/migrations.py` says which older tables it migrates."""

FORMAT_PROPERTY = "lineproof.format"
RELEASE_PROPERTY = "lineproof.release"


class NewerTable(LineproofError):
    """A table was written by a later release."""


def current_format() -> dict[str, str]:
    """The properties of a table that this release created or migrated."""
    return {FORMAT_PROPERTY: str(FORMAT), RELEASE_PROPERTY: version("lineproof")}


def format_number(properties: Mapping[str, str]) -> int:
    """The format of a table with these properties."""
    return int(properties.get(FORMAT_PROPERTY, 0))


def refuse_newer(table_path: str, properties: Mapping[str, str]) -> None:
    """Refuse a table of a later format: this release may misread it."""
    number = format_number(properties)
    if number > FORMAT:
        release = properties.get(RELEASE_PROPERTY, "")
        raise NewerTable(
            f"The table {table_path} has format {number}, and lineproof {version('lineproof')} supports formats up to "
            f"{FORMAT}.",
            f"Use lineproof {release} or newer: it wrote the table." if release else "Use the release that wrote it.",
        )
