"""Paths as they were sent: a name may contain %2F, which is not the slash between two names."""

from collections.abc import Mapping
from typing import Generic, TypeVar
from urllib.parse import unquote

NAME = "*"
"""Stands for any one name in a pattern."""

Found = TypeVar("Found")


def segments(raw_path: bytes) -> tuple[str, ...]:
    """The parts of a path, decoded one by one. A slash at the end does not count."""
    text = raw_path.decode("latin-1").partition("?")[0].removeprefix("/")
    return tuple(unquote(part) for part in text.removesuffix("/").split("/"))


class Routes(Generic[Found]):
    """Patterns such as `namespaces/*/jobs/*`, and what each leads to."""

    def __init__(self, patterns: Mapping[str, Found]) -> None:
        self._patterns = {tuple(pattern.split("/")): found for pattern, found in patterns.items()}

    def find(self, path: tuple[str, ...]) -> tuple[Found, tuple[str, ...]] | None:
        """What the path leads to, and the names in it. Fixed parts come before names."""
        fitting = [parts for parts in self._patterns if _fits(parts, path)]
        if not fitting:
            return None
        parts = min(fitting, key=lambda parts: parts.count(NAME))
        names = tuple(given for part, given in zip(parts, path, strict=True) if part == NAME)
        return self._patterns[parts], names


def _fits(parts: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return len(parts) == len(path) and all(part in (NAME, given) for part, given in zip(parts, path, strict=True))
