"""Views: what changes with other rows, or with the time of day, is asked for and never stored.

One file of SQL a view, in words that DuckDB and Spark SQL both understand.
"""

from collections.abc import Collection, Iterator
from importlib.resources import files

NEEDS = {
    "certificate_checks": ("certificates",),
    "emitter_gaps": ("archive",),
    "ledger_checks": ("runs",),
    "violations": ("archive", "certificates", "runs"),
}
"""The views, and the tables that each is made of; a view comes after those it is made of."""


def views(tables: Collection[str]) -> Iterator[tuple[str, str]]:
    """The names and queries of the views that can be made of these tables."""
    for name, needed in NEEDS.items():
        if all(table in tables for table in needed):
            yield name, files("lineproof.streaming").joinpath(f"views_sql/{name}.sql").read_text()
