"""`lineproof job` and `lineproof bench`: run the streaming job, and measure it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineproof.cli.context import CommandContext, with_context
from lineproof.cli.output import err

if TYPE_CHECKING:
    from lineproof.streaming.run import Progress

AcceptLossOption = Annotated[
    int | None,
    typer.Option(
        metavar="BATCH",
        help="Continue without records that the topic has lost. The error that reports the loss gives the number; it "
        "accepts that loss only.",
    ),
]
RestoreOption = Annotated[
    bool, typer.Option("--restore-checkpoint", help="Recreate a lost ingest checkpoint from the archive.")
]
RebuildOption = Annotated[
    bool,
    typer.Option(
        "--rebuild",
        help="Remove all tables except the archive, and make them again from it. What was published is not published "
        "again.",
    ),
]


@with_context
def job(
    context: CommandContext,
    trigger: Annotated[
        str | None,
        typer.Option(
            metavar="TRIGGER", help="How often to read new events: 500ms, 10s, 5m; or available-now: catch up and stop."
        ),
    ] = None,
    create_topics: Annotated[bool, typer.Option("--create-topics", help="Create missing topics.")] = False,
    accept_loss: AcceptLossOption = None,
    restore_checkpoint: RestoreOption = False,
    rebuild: RebuildOption = False,
) -> None:
    """Run the streaming job against any broker.

    [bold]Example:[/] lineproof job --trigger available-now -s kafka.bootstrap.servers=localhost:9092
    """
    from lineproof.local.job_config import Recovery
    from lineproof.local.job_runner import run_job
    from lineproof.local.logs import job_log
    from lineproof.streaming.session import was_submitted

    settings = context.override(*([f"trigger={trigger}"] if trigger else [])).settings
    err.print(f"Tables {settings.tables_path}")
    if not was_submitted():
        err.print(f"Log    {job_log(settings).absolute()}")
    run_job(
        settings,
        create_topics=create_topics,
        report=print_progress,
        started=lambda: err.print(f"Reading {settings.topics.events}. Ctrl-C stops."),
        recovery=Recovery(accept_loss, restore_checkpoint, rebuild),
        say=say,
    )


@with_context
def bench(
    context: CommandContext,
    events: Annotated[int, typer.Option(min=1000, help="Number of records on each topic.")] = 1_000_000,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures to this JSON file.")
    ] = None,
    table_file: Annotated[
        Path | None, typer.Option("--table", metavar="FILE", help="Also write them to this file as a Markdown table.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this one of emit, gateway, throughput, steady, growth, first-use. Repeatable."
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how one batch spends its time instead.")] = False,
) -> None:
    """Measure the job against a plain copy of the same topic from Kafka to Delta.

    The figures depend on the machine; compare ratios within a run. Starts its own broker unless
    kafka.bootstrap.servers is set. Its topics are named bench.*. On a small machine, use fewer events.

    [bold]Example:[/] lineproof bench --events 100000
    """
    from lineproof.bench import run

    if unknown := set(only or ()) - run.PARTS.keys():
        raise typer.BadParameter(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(run.PARTS)}")
    if explain:
        run.explain(context.settings, events, json_file)
    else:
        run.bench(context.settings, events, json_file, table_file, only or ())


def print_progress(batch: "Progress") -> None:
    """One line about a finished batch."""
    err.print(f"{batch.query} batch {batch.batch}: {batch.rows} records in {batch.seconds:.1f} s")


def say(message: str) -> None:
    """One line about what the job does."""
    err.print(message)
