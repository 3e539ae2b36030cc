"""The command line: all commands, and how errors are printed. Data goes to stdout, everything else to stderr."""

import logging
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.text import Text
from typer import rich_utils
from typer.core import TyperGroup

from lineproof.cli import (
    certificates,
    dead_letters,
    defects,
    diff,
    forward,
    freshness,
    gaps,
    job,
    load,
    maintain,
    mcp,
    pipelines,
    quality,
    replay,
    server,
    service,
    tables,
    tail,
)
from lineproof.cli.console import SafeFormatter, print_traceback
from lineproof.cli.output import err, out
from lineproof.schemas.control_characters import visible_lines
from lineproof.schemas.errors import LineproofError

RENAMED = {"emit": "load"}
"""Commands that were renamed: old name to new name."""

EXTRAS = {
    **dict.fromkeys(("pyspark", "delta", "duckdb", "deltalake", "pyarrow", "py4j"), "streaming"),
    "great_expectations": "streaming,quality",
    **dict.fromkeys(("anyio", "fastapi", "h11", "prometheus_client", "starlette", "uvicorn", "zstandard"), "server"),
    **dict.fromkeys(("mcp", "mcp_types"), "server"),
}
"""Optional packages, and the extra that installs each: the emitter works without them."""


class Commands(TyperGroup):
    """The commands; an old name is refused, and the error gives the new one."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command. Wrong usage is printed here: the message may name what a script got from elsewhere."""
        sys.excepthook = print_traceback  # here, because Typer sets its own before
        try:
            code = super().main(*arguments, **{**options, "standalone_mode": False})
        except typer.Abort:
            err.print(Text("Aborted.", "red"))
            sys.exit(1)
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            message = visible_lines(error.format_message())
            error.format_message = lambda: message
            rich_utils.rich_format_error(error)  # type: ignore[arg-type]
            sys.exit(getattr(error, "exit_code", 2))
        sys.exit(code if isinstance(code, int) else 0)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the arguments name."""
        if args and args[0] in RENAMED:
            ctx.fail(f"`lineproof {args[0]}` is now `lineproof {RENAMED[args[0]]}`.")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="lineproof",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Run": (
        service.demo,
        service.up,
        service.down,
        service.status,
        job.job,
        server.serve,
        mcp.mcp,
        service.check,
        service.jars,
        job.bench,
    ),
    "Events": (load.load, tail.tail, forward.forward, defects.defects),
    "Tables": (tables.sql, tables.tables, tables.catalog, freshness.freshness, freshness.coverage, maintain.maintain),
    "Recovery": (gaps.gaps, replay.replay, diff.diff),
}
"""The commands by panel of `lineproof --help`."""

for panel, functions in COMMANDS.items():
    for function in functions:
        app.command(rich_help_panel=panel)(function)
app.add_typer(pipelines.app, name="pipelines", rich_help_panel="Events")
app.add_typer(server.keys_app, name="keys", rich_help_panel="Run")
app.add_typer(quality.app, name="quality", rich_help_panel="Tables")
app.add_typer(certificates.app, name="certificates", rich_help_panel="Tables")
app.add_typer(dead_letters.app, name="dead-letters", rich_help_panel="Recovery")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; print our own errors without a traceback."""
    arguments = sys.argv[1:] if arguments is None else arguments
    is_verbose = "-v" in arguments or "--verbose" in arguments
    # Without -v, people see our own warnings and errors, and no log of any library.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(SafeFormatter("%(levelname)s %(name)s: %(message)s" if is_verbose else "%(message)s"))
    logging.basicConfig(level=logging.INFO if is_verbose else logging.CRITICAL, handlers=[handler])
    logging.getLogger("lineproof").setLevel(logging.INFO if is_verbose else logging.WARNING)
    try:
        app(arguments, standalone_mode=True)
    except ModuleNotFoundError as error:
        extras = EXTRAS.get(str(error.name).partition(".")[0])
        if extras is None:
            raise
        _print_error(f"This command needs {error.name}, which is not installed.")
        err.print(f"Run: pip install 'lineproof[{extras}]'")
        sys.exit(1)
    except LineproofError as error:
        if is_verbose:
            err.print_exception()
        _print_error(error.what)
        err.print(error.remedy)
        sys.exit(error.exit_code)


def _print_error(what: str) -> None:
    err.print(Text.assemble(("Error:", "bold red"), f" {visible_lines(what)}"))


def _print_version(is_asked: bool) -> None:
    if is_asked:
        out.print(f"lineproof {version('lineproof')}", highlight=False)
        raise typer.Exit


@app.callback()
def _root(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show log messages and tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Lineage you can prove: OpenLineage events from Kafka into Delta tables that add up.

    Start with [bold]lineproof demo[/]. Results are printed to stdout, messages to stderr.

    Exit codes: 0 success, 1 failure, 2 wrong usage or settings, 3 a check found violations or differences.
    """
