"""Read events from files of any size: JSON lines, one document or an array, also gzipped."""

import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineproof.schemas.envelope import MAX_RECORD_BYTES
from lineproof.schemas.errors import LineproofError

STDIN = "-"
_GZIP = b"\x1f\x8b"
_SEPARATORS = " \t\r\n\ufeff[],"
"""The characters that may stand between events."""
_DECODER = json.JSONDecoder()


class UnreadableFile(LineproofError):
    """The file does not exist, or cannot be read."""

    exit_code = 2


@dataclass(frozen=True)
class LinePosition:
    """A position in a file: the line, counted from 1, and how many characters of it were read."""

    line: int
    column: int


BEGINNING = LinePosition(1, 0)


@dataclass(frozen=True)
class Document:
    """The text of an event, unchanged; or text that is not JSON where an event was expected."""

    line: int
    text: str
    end: LinePosition
    """The position after it."""

    @property
    def payload(self) -> bytes:
        """The bytes as they are in the file, even if they are not UTF-8."""
        return self.text.encode(errors="surrogateescape")


@contextmanager
def opened(name: str) -> Iterator[tuple[Iterator[str], Callable[[], int]]]:
    """The lines of a file, or of stdin for `-`; and a function that returns how many bytes of the file were read."""
    with _open(name) as file:
        is_zipped = file.peek(2)[:2] == _GZIP
        lines = gzip.GzipFile(fileobj=file) if is_zipped else file
        yield _texts(name, lines), lambda: 0 if name == STDIN else file.tell()


def _open(name: str) -> Any:
    try:
        return nullcontext(sys.stdin.buffer) if name == STDIN else Path(name).open("rb")
    except OSError as error:
        raise UnreadableFile(f"{name} cannot be read: {error.strerror}.", "Name a file that exists.") from error


def _texts(name: str, lines: Iterable[bytes]) -> Iterator[str]:
    try:
        for line in lines:
            yield line.decode(errors="surrogateescape")
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableFile(
            f"{name} cannot be read to its end: {error}", "It is incomplete: copy it again."
        ) from error


def split(lines: Iterable[str], after: LinePosition = BEGINNING) -> Iterator[Document]:
    """The events of a file after a position: one document, an array of documents, or one per line.

    Events are cut out of the text and not serialised again, so their bytes do not change. Text that is not JSON is
    returned up to the end of its line, so that the caller can refuse it by line number. Only the lines of one event are
    in memory.
    """
    following = iter(lines)
    for _ in range(after.line - 1):
        next(following, None)
    text, line, counted, position = next(following, ""), after.line, 0, after.column
    while text:
        position = _skip(text, position)
        line, counted = line + text.count("\n", counted, position), position
        if position == len(text):
            text, counted, position = next(following, ""), 0, 0
            continue
        while (end := _end(text, position)) is None:
            more = _lines_of_length(following, len(text) - position)
            if not more or len(text) - position > MAX_RECORD_BYTES:
                end = _end_of_line(text, position)
                text += more
                break
            text += more
        begin_of_line = text.rfind("\n", 0, end) + 1
        end_line = line + text.count("\n", position, end)
        yield Document(line, text[position:end].rstrip("\r"), LinePosition(end_line, end - begin_of_line))
        position = end


def _end(text: str, position: int) -> int | None:
    """Where the document that begins here ends, or the line, if it is not JSON; None if the text may be incomplete."""
    try:
        return _DECODER.raw_decode(text, position)[1]
    except json.JSONDecodeError as error:
        return None if error.pos >= len(text.rstrip()) else _end_of_line(text, position)
    except RecursionError:
        return _end_of_line(text, position)


def _end_of_line(text: str, position: int) -> int:
    newline = text.find("\n", position)
    return len(text) if newline < 0 else newline


def _lines_of_length(lines: Iterator[str], size: int) -> str:
    """Lines of this length in all, so that a document of many lines is not parsed again for each line."""
    taken: list[str] = []
    length = 0
    while length < size and (line := next(lines, "")):
        taken.append(line)
        length += len(line)
    return "".join(taken)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SEPARATORS:
        position += 1
    return position


def require_readable(names: Iterable[str]) -> None:
    """Refuse files that cannot be opened."""
    for name in names:
        if name != STDIN:
            with opened(name):
                pass


def read_text(name: str) -> str:
    """A whole file, or stdin for `-`."""
    try:
        return sys.stdin.buffer.read().decode() if name == STDIN else Path(name).read_bytes().decode()
    except OSError as error:
        raise UnreadableFile(f"{name} cannot be read: {error.strerror}.", "Name a file that exists.") from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{name} is not UTF-8: {error.reason}.", "Name a JSON file.") from error
