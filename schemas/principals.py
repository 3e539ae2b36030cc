"""Who sent a record, and what may be said by whom.

The principal of a record is the one that is configured for its topic, or the one that the gateway writes into the
record's header `lineproof.principal`.
"""

import re
from dataclasses import dataclass

ANYONE_ELSE = "*"
"""Among the principals that are bound to namespaces: all others, and records without a principal."""
MAX_LENGTH = 200
"""Characters of a principal that are kept."""

Names = tuple[str, ...]


@dataclass(frozen=True)
class Principals:
    """The rules. Without any, every principal may say everything."""

    topics: tuple[tuple[str, str], ...] = ()
    """Principal by topic: a name, or a pattern that begins with `^`. The first that matches counts."""
    namespaces: tuple[tuple[str, Names], ...] = ()
    """The namespaces that a principal is bound to: patterns in which `*` stands for any text."""
    symlinks: Names = ()
    """Those whose symlinks count; none listed: everyone's."""
    ownership: Names = ()
    """Those whose ownership facets count; none listed: everyone's."""
    redrive: Names = ()
    """Those whose records can replace dead letters; none listed: everyone's."""


NO_PRINCIPALS = Principals()


def namespace_regex(patterns: Names) -> str:
    """A regular expression of Python and Java that the whole of a namespace matches. `*` stands for any text."""
    each = (".*".join(map(re.escape, pattern.split("*"))) for pattern in patterns)
    return f"(?s)(?:{'|'.join(each)})"
