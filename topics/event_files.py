"""Events in files, one after the other: JSON lines of any size, one document, an array; also gzipped."""

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
_BETWEEN = " \t\r\n\ufeff[],"
"""What may stand between events."""
_DECODER = json.JSONDecoder()


class UnreadableFile(LineproofError):
    """The file is not there, or not what it seems."""

    exit_code = 2


@dataclass(frozen=True)
class Place:
    """In a file: a line, counted from 1, and how much of it has been read."""

    line: int
    column: int


BEGINNING = Place(1, 0)


@dataclass(frozen=True)
class Document:
    """An event, byte for byte, or what stands where one should."""

    line: int
    text: str
    end: Place
    """Right behind it."""

    @property
    def payload(self) -> bytes:
        """As it is in the file, also where that is not UTF-8."""
        return self.text.encode(errors="surrogateescape")


@contextmanager
def opened(name: str) -> Iterator[tuple[Iterator[str], Callable[[], int]]]:
    """The lines of a file, or of stdin for `-`; and a function that says how much of the file has been read."""
    with _open(name) as file:
        is_zipped = file.peek(2)[:2] == _GZIP
        lines = gzip.GzipFile(fileobj=file) if is_zipped else file
        yield _texts(name, lines), lambda: 0 if name == STDIN else file.tell()


def _open(name: str) -> Any:
    try:
        return nullcontext(sys.stdin.buffer) if name == STDIN else Path(name).open("rb")
    except OSError as error:
        raise UnreadableFile(f"{name} cannot be read: {error.strerror}.", "Name a file that is there.") from error


def _texts(name: str, lines: Iterable[bytes]) -> Iterator[str]:
    try:
        for line in lines:
            yield line.decode(errors="surrogateescape")
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableFile(f"{name} cannot be read to its end: {error}", "Fetch it again.") from error


def split(lines: Iterable[str], after: Place = BEGINNING) -> Iterator[Document]:
    """The events of a file behind a place: one document, an array of them, or one a line.

    Events are cut out, not written anew, so that their bytes stay what they were. What is no JSON is handed on to its
    line's end, to be refused by name. No more is in memory than the lines of one event.
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
            more = _as_much_again(following, len(text) - position)
            if not more or len(text) - position > MAX_RECORD_BYTES:
                end = _end_of_line(text, position)
                text += more
                break
            text += more
        begin_of_line = text.rfind("\n", 0, end) + 1
        end_line = line + text.count("\n", position, end)
        yield Document(line, text[position:end].rstrip("\r"), Place(end_line, end - begin_of_line))
        position = end


def _end(text: str, position: int) -> int | None:
    """Where the document ends that begins here, or the line of what is none; None if it may go on behind the text."""
    try:
        return _DECODER.raw_decode(text, position)[1]
    except json.JSONDecodeError as error:
        return None if error.pos >= len(text.rstrip()) else _end_of_line(text, position)
    except RecursionError:
        return _end_of_line(text, position)


def _end_of_line(text: str, position: int) -> int:
    newline = text.find("\n", position)
    return len(text) if newline < 0 else newline


def _as_much_again(lines: Iterator[str], size: int) -> str:
    """Lines that are together as long: so that what spans many of them is not tried once for each."""
    taken: list[str] = []
    length = 0
    while length < size and (line := next(lines, "")):
        taken.append(line)
        length += len(line)
    return "".join(taken)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BETWEEN:
        position += 1
    return position


def read_text(name: str) -> str:
    """A whole file, or stdin for `-`."""
    try:
        return sys.stdin.buffer.read().decode() if name == STDIN else Path(name).read_bytes().decode()
    except OSError as error:
        raise UnreadableFile(f"{name} cannot be read: {error.strerror}.", "Name a file that is there.") from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{name} is not UTF-8: {error.reason}.", "Name a file of JSON.") from error
