"""The base class of every error that lineproof raises on purpose, and what several folders share."""

import difflib
from collections.abc import Collection, Iterable


class LineproofError(Exception):
    """Says what happened and where, and on a second line what to do about it.

    The command line prints both without a traceback and exits with `exit_code`.
    """

    exit_code = 1

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}\n{self.remedy}"


class TableNotFound(LineproofError):
    """No table has this name, or the directory holds no such table."""

    exit_code = 2


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to an unknown name, if any is similar."""
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=0.4)), None)


def suggest(name: str, known: Collection[str]) -> str:
    """What to do about an unknown name: try the closest known name, or pick from the list of all."""
    closest = nearest(name, known)
    return f"Did you mean {closest}?" if closest else f"There are {', '.join(known)}."
