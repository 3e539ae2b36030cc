"""Small helpers to write Markdown tables."""

import re
from collections.abc import Sequence

_CELL = str.maketrans({"|": "\\|", "<": "&lt;"})


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def text(words: str | None) -> str:
    """Words as a cell of a table."""
    return " ".join((words or "").split()).translate(_CELL)


def code(value: object) -> str:
    """A value as code in a cell of a table; nothing for an empty text."""
    shown = " ".join(str(value).split()).replace("|", "\\|")
    return f"`{shown}`" if shown else ""


def first_sentence(words: str) -> str:
    """The summary of a longer comment."""
    return re.split(r"(?<=[.:])\s", " ".join(words.split()), maxsplit=1)[0].rstrip(":")
