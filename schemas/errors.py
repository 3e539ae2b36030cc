"""The one root of every error lineproof raises on purpose."""


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
