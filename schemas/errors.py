"""The one root of every error lineproof raises on purpose."""

import difflib
from collections.abc import Collection, Iterable


class LineproofError(Exception):
    """What happened and where, and, on its own line, what to do about it.

    The command line prints both, without a traceback, and exits with `exit_code`.
    """

    exit_code = 1

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}\n{self.remedy}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant by one that is not known."""
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=0.4)), None)


def one_of(name: str, known: Collection[str]) -> str:
    """The remedy where a name is not known: the one that was probably meant, else all there are."""
    meant = nearest(name, known)
    return f"Did you mean {meant}?" if meant else f"There are {', '.join(known)}."
