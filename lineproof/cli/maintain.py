"""`lineproof maintain`: keep the tables healthy."""

from collections.abc import Sequence
from enum import Enum
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, show
from lineproof.schemas.errors import LineproofError, TableNotFound, suggest


class Task(str, Enum):
    """What is to be done."""

    ALL = "all"
    RETAIN = "retain"
    COMPACT = "compact"
    CLUSTER = "cluster"
    VACUUM = "vacuum"


class MaintenanceFailed(LineproofError):
    """It stopped in the midst."""


COLUMNS = ("table", "files", "files after", "bytes", "bytes after", "on disk", "on disk after", "seconds", "done")


@with_context
def maintain(
    context: CommandContext,
    task: Annotated[Task, typer.Argument(help="One of them, or all, in this order.")] = Task.ALL,
    tables: Annotated[
        list[str] | None, typer.Option("--table", metavar="NAME", help="Only this table. Repeatable.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    output: OutputOption = Format.TABLE,
) -> None:
    """Keep the tables healthy. Safe while the job runs, which does it by itself (`maintain_trigger`).

    [bold]retain[/] deletes rows that are older than `retention` says. [bold]compact[/] brings small files together.
    [bold]cluster[/] orders all rows by the columns of their usual question. [bold]vacuum[/] removes files that no table
    has any more.

    [bold]Example:[/] lineproof maintain retain --table runs --dry-run
    """
    settings = context.settings
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from lineproof.local.logs import job_log
    from lineproof.local.maintenance import maintenance
    from lineproof.local.spark_session import spark_session
    from lineproof.schemas.tables import TABLES
    from lineproof.streaming.upkeep.maintenance import TASKS, MaintenanceResult
    from lineproof.streaming.upkeep.maintenance_task import LastRuns

    known = [table.name for table in TABLES]
    for name in tables or ():
        if name not in known:
            raise TableNotFound(f"There is no table {name}.", suggest(name, known))
    tasks = TASKS if task is Task.ALL else (task.value,)
    err.print("Starting Spark…")
    spark = spark_session(settings)
    outcomes: Sequence[MaintenanceResult]
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns, console=err, transient=True) as progress:
            bar = progress.add_task("", total=1.0)
            outcomes = maintenance(spark, settings, is_dry=dry_run).run(
                tasks,
                tables or (),
                lambda what, share: progress.update(bar, description=what, completed=share),
            )
        if not dry_run and not tables and task in (Task.ALL, Task.COMPACT):
            LastRuns(spark, settings.checkpoints_path).record(is_full=task is Task.ALL)
    except (PySparkException, Py4JError) as error:
        raise MaintenanceFailed(
            f"Maintenance stopped: {next(iter(str(error).splitlines()), 'no cause was given')}",
            f"What was done is done, and nothing is lost: run it again. {job_log(settings)} has the whole story.",
        ) from error
    finally:
        spark.stop()
    rows = [
        [
            one.table,
            *(one.before.files, one.after.files, one.before.bytes, one.after.bytes),
            *(one.before.bytes_on_disk, one.after.bytes_on_disk),
            *(round(one.seconds, 1), "; ".join(one.done)),
        ]
        for one in outcomes
    ]
    show(COLUMNS, rows, output)
    if not rows:
        err.print(f"There are no tables in {settings.tables_path}.")
