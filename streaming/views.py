"""Views: what changes with other rows, or with the time of day, is asked for and never stored.

One file of SQL a view, in words that DuckDB and Spark SQL both understand.
"""

from importlib.resources import files

VIEWS = ("certificate_checks", "emitter_gaps", "ledger_checks", "violations")
"""Their names, each after those it is made of."""


def view_sql(name: str) -> str:
    """The query that a view stands for."""
    return files("lineproof.streaming").joinpath(f"views_sql/{name}.sql").read_text()


def views_in(sql: str) -> list[str]:
    """The views that a query names, and those that they are made of, in the order in which they can be made."""
    wanted: set[str] = set()
    texts = [sql]
    while texts:
        text = texts.pop().lower()
        new = {name for name in VIEWS if name in text} - wanted
        wanted |= new
        texts += [view_sql(name) for name in new]
    return [name for name in VIEWS if name in wanted]
