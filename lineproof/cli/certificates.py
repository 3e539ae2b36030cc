"""`lineproof certificates`: check certificate chains."""

from pathlib import Path
from typing import Annotated

import typer

from lineproof.cli.context import CommandContext, with_context
from lineproof.cli.output import err

app = typer.Typer(help="Check certificate chains.", no_args_is_help=True)


@app.command()
@with_context
def verify(
    context: CommandContext,
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|TABLE",
            help="A chain file with one JSON object per line, oldest first, - for stdin; or the table `certificates`.",
        ),
    ],
    head: Annotated[
        str | None, typer.Option(metavar="HASH", help="The newest hash you know. Detects a chain that was cut off.")
    ] = None,
) -> None:
    """Recompute every hash of a chain, and name the first invalid certificate and the reason.

    Exit code 3: a chain does not hold.

    [bold]Example:[/] lineproof certificates verify chain.jsonl
    """
    from lineproof.producers.chain import parse_lines
    from lineproof.serving import certificates as library
    from lineproof.topics.event_files import read_text

    if source == library.TABLE and not Path(source).exists():
        report = library.verify_table(context.settings.tables_path, head)
    else:
        chain = parse_lines(read_text(source).encode(), source)
        report = library.verify_chain(chain, source, head)
    err.print(report.text)
    if not report.holds:
        raise typer.Exit(3)
