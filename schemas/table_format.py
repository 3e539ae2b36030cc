"""The format of the tables: a number that says which releases can read and write them.

It is a property of each table. One without it was written before there was a number, and counts as format 0.
"""

from collections.abc import Mapping
from importlib.metadata import version

from lineproof.schemas.errors import LineproofError

FORMAT = 1
"""What this release writes. `migrations` has the steps that lead to it."""

FORMAT_PROPERTY = "lineproof.format"
RELEASE_PROPERTY = "lineproof.release"


class NewerTable(LineproofError):
    """A table was written by a later release."""


def current_format() -> dict[str, str]:
    """The properties of a table that this release made or migrated."""
    return {FORMAT_PROPERTY: str(FORMAT), RELEASE_PROPERTY: version("lineproof")}


def format_of(properties: Mapping[str, str]) -> int:
    """The format that a table's properties tell."""
    return int(properties.get(FORMAT_PROPERTY, 0))


def refuse_newer(table_path: str, properties: Mapping[str, str]) -> None:
    """Refuse a table that this release may misunderstand."""
    if format_of(properties) > FORMAT:
        release = properties.get(RELEASE_PROPERTY, "")
        raise NewerTable(
            f"The table {table_path} has format {format_of(properties)}, and lineproof {version('lineproof')} knows "
            f"those up to {FORMAT}.",
            f"Use lineproof {release} or newer: it wrote the table." if release else "Use the release that wrote it.",
        )
