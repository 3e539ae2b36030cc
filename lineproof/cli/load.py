"""`lineproof load`: publish events from files."""

from typing import Annotated

import typer

from lineproof.cli.context import CommandContext, with_context
from lineproof.cli.output import err, progress


@with_context
def load(
    context: CommandContext,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="OpenLineage JSON or JSON lines, plain or gzipped; - for stdin."),
    ],
) -> None:
    """Publish OpenLineage events from files of any size, byte for byte. Invalid events are reported and not sent.

    If it is interrupted, run the same command again: it continues where it stopped, as long as the files are
    unchanged. An event that is sent twice is counted once. Exit code 1: some events are invalid.

    [bold]Example:[/] lineproof load export-2025.jsonl.gz export-2026.jsonl
    """
    from rich.progress import DownloadColumn

    from lineproof.local.load import load_files

    file_load = load_files(files, context.settings)
    before = file_load.progress
    if before.sent or before.refused:
        err.print(f"Continuing after {before.sent:,} events. To start over, {file_load.how_to_restart()}.")
    try:
        with progress(DownloadColumn()) as bar:
            task = bar.add_task("Sending", total=file_load.bytes)

            def report(sent: int, read: int) -> None:
                bar.update(task, completed=read, description=f"Sending: {sent:,} events")

            done = file_load.run(err.print, report)
            report(done.sent, file_load.bytes or 0)
    except KeyboardInterrupt:
        err.print(f"Stopped after {file_load.progress.sent:,} events. Run the same command to continue.")
        raise typer.Exit(1) from None
    err.print(f"{done.sent} events sent" + (f", {done.refused} refused." if done.refused else "."))
    if done.refused:
        raise typer.Exit(1)
