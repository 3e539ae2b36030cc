"""A console that shows names as they are: no markup, no emoji codes, and control characters made visible."""

import logging
import sys
import traceback
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from lineproof.schemas.control_characters import visible_lines


class SafeConsole(Console):
    """What is printed is text and nothing else: `[bold]` and `:x:` are names like others. Styles need a `Text`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, **options})

    def print(self, *objects: Any, **options: Any) -> None:
        """Print. Texts are made visible here, because rich drops some control characters silently."""
        super().print(*(visible_lines(one) if isinstance(one, str) else one for one in objects), **options)

    def status(self, status: RenderableType, **options: Any) -> Status:
        """A line with a spinner."""
        return super().status(Text(visible_lines(status)) if isinstance(status, str) else status, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Everything that is printed passes here. Segments that control the terminal are rich's own."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else visible_lines(segment.text)
            yield segment if text == segment.text else Segment(text, segment.style)


class SafeFormatter(logging.Formatter):
    """Log lines whose messages cannot control the terminal that shows them, now or later."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, and the traceback if there is one."""
        return visible_lines(super().format(record))


def print_traceback(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """For `sys.excepthook`: as Python prints it, with control characters visible."""
    sys.stderr.write(visible_lines("".join(traceback.format_exception(kind, error, where))))
