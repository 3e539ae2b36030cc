"""The options that commands share, and the settings they select."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

import typer

from lineproof.cli.output import Format
from lineproof.settings import Settings, load

P = ParamSpec("P")
R = TypeVar("R")

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="FILE", help="Settings file (YAML). Default: ./lineproof.yaml."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="NAME=VALUE",
        help="Override a setting, such as kafka.bootstrap.servers=HOST:PORT. Repeatable.",
    ),
]
OutputOption = Annotated[Format, typer.Option("--output", "-o", help="Output format.")]


@dataclass(frozen=True)
class CommandContext:
    """What every command gets: the settings that --config and --set select."""

    config: Path | None = None
    overrides: tuple[str, ...] = ()

    @cached_property
    def settings(self) -> Settings:
        """The settings, read on first use: a command that needs none works with an invalid file."""
        return load(self.config, self.overrides)

    def override(self, *overrides: str) -> "CommandContext":
        """The same context with more overrides, such as `trigger=10s`."""
        return replace(self, overrides=(*self.overrides, *overrides))

    @property
    def arguments(self) -> list[str]:
        """The options that select these settings, for a child process."""
        config = ["--config", str(self.config)] if self.config else []
        return [*config, *(f"--set={override}" for override in self.overrides)]


SHARED_OPTIONS = [
    inspect.Parameter("config", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=ConfigOption),
    inspect.Parameter("set_", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=SetOption),
]


def with_context(function: Callable[Concatenate[CommandContext, P], R]) -> Callable[..., R]:
    """Add --config and --set to a command, and call it with a CommandContext as its first argument."""

    @wraps(function)
    def command(*, config: Path | None = None, set_: list[str] | None = None, **own: Any) -> R:
        return function(CommandContext(config, tuple(set_ or ())), **own)  # type: ignore[call-arg]

    # Typer reads options from the signature: that of the function without its context, plus the shared options.
    _context, *own_parameters = inspect.signature(function).parameters.values()
    parameters = [*own_parameters, *SHARED_OPTIONS]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = _unwrapped(function.__doc__ or "")
    return command


def _unwrapped(doc: str) -> str:
    """One line per paragraph: Typer keeps line breaks, which look wrong in a narrower terminal."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in inspect.cleandoc(doc).split("\n\n"))
