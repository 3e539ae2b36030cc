"""Every command, from the command line itself."""

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

from markdown import code, table, text

HIDDEN = ("help", "install_completion", "show_completion")
"""Options that every typer command line has."""


def commands_page() -> str:
    """Every command with its arguments and options."""
    from typer.main import get_command

    from lineproof.cli.main import app

    root = get_command(app)
    commands = [*_commands("lineproof", root)]
    rows = [[f"[`{path}`](#{_anchor(path)})", text(_help(command)[0])] for path, command in commands]
    parts = ["# Commands", *_help(root), table(["command", ""], rows)]
    parts += ["Options before the command:", _options(root)]
    for path, command in commands:
        arguments = [_metavar(each) for each in command.params if each.param_type_name == "argument"]
        usage = " ".join([path, "[OPTIONS]", *arguments])
        parts += [f"## {path}", f"```text\n{usage}\n```", *_help(command), _options(command)]
    return "\n\n".join(part for part in parts if part)


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for name, inner in sorted(command.commands.items()):
            yield from _commands(f"{path} {name}", inner)
    else:
        yield path, command


def _anchor(heading: str) -> str:
    return heading.replace(" ", "-")


def _help(command: Any) -> list[str]:
    """The paragraphs of a command's help, without the marks for the terminal."""
    words = inspect.cleandoc(command.help or "").replace("\b", "")
    words = re.sub(r"\[bold\]Example:\[/\] (.+)", r"Example: `\1`", words)
    return [" ".join(re.sub(r"\[/?\w*\]", "", part).split()) for part in words.split("\n\n")]


def _metavar(argument: Any) -> str:
    return str(argument.metavar or f"{argument.name.upper()}{'…' if argument.nargs == -1 else ''}")


def _options(command: Any) -> str:
    shown = [_option(each) for each in command.params if each.name not in HIDDEN]
    return table(["option", "default", "meaning"], shown) if shown else ""


def _option(parameter: Any) -> list[str]:
    is_argument = parameter.param_type_name == "argument"
    names = [_metavar(parameter)] if is_argument else [*parameter.opts, *parameter.secondary_opts]
    default = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    is_shown = isinstance(default, str | int | float) and not isinstance(default, bool)
    shown = ", ".join(code(name) for name in names)
    return [shown, code(default) if is_shown else "", text(parameter.help)]
