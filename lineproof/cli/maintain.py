"""`lineproof maintain`: delete old rows, compact, cluster and vacuum the tables."""

from enum import Enum
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, show


class Task(str, Enum):
    """A maintenance task, or all of them."""

    ALL = "all"
    RETAIN = "retain"
    COMPACT = "compact"
    CLUSTER = "cluster"
    VACUUM = "vacuum"


COLUMNS = ("table", "files", "files after", "bytes", "bytes after", "on disk", "on disk after", "seconds", "done")


@with_context
def maintain(
    context: CommandContext,
    task: Annotated[
        Task, typer.Argument(metavar="TASK", help="The task to run; all: the four tasks in this order.")
    ] = Task.ALL,
    tables: Annotated[
        list[str] | None, typer.Option("--table", metavar="NAME", help="Only this table. Repeatable.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be done.")] = False,
    output: OutputOption = Format.TABLE,
) -> None:
    """Delete old rows, compact, cluster and vacuum the tables.

    Safe while the job runs. The running job does it by itself (settings maintenance.compact_every and
    maintenance.full_every).

    [bold]retain[/] deletes rows that are older than the `retention` settings. [bold]compact[/] merges small files.
    [bold]cluster[/] orders rows by the columns that queries filter on most. [bold]vacuum[/] removes files that no table
    uses any more.

    [bold]Example:[/] lineproof maintain retain --table runs --dry-run
    """
    settings = context.settings
    from lineproof.local.maintenance import maintain_tables, require_tables
    from lineproof.streaming.upkeep.maintenance import TASKS

    tasks = TASKS if task is Task.ALL else (task.value,)
    bar = Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn(), console=err, transient=True
    )
    bar_task = bar.add_task("", total=1.0)

    def report(step: str, share: float) -> None:
        bar.start()  # not earlier: while Spark starts, stderr goes to its log
        bar.update(bar_task, description=step, completed=share)

    require_tables(tables or ())
    err.print("Starting Spark…")
    try:
        results = maintain_tables(settings, tasks, tables or (), dry_run, report)
    finally:
        bar.stop()
    rows = [
        [
            result.table,
            *(result.before.files, result.after.files, result.before.bytes, result.after.bytes),
            *(result.before.bytes_on_disk, result.after.bytes_on_disk),
            *(round(result.seconds, 1), "; ".join(result.done)),
        ]
        for result in results
    ]
    show(COLUMNS, rows, output)
    if not rows:
        err.print(f"There are no tables in {settings.tables_path}.")
