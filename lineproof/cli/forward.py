"""`lineproof forward`: send events on to another backend."""

from enum import Enum
from typing import Annotated

import typer

from lineproof.cli.context import CommandContext, with_context
from lineproof.cli.output import err, progress
from lineproof.schemas.errors import LineproofError


class SourceOption(str, Enum):
    """Where the events are read."""

    ARCHIVE = "archive"
    TOPIC = "topic"


@with_context
def forward(
    context: CommandContext,
    to: Annotated[
        str | None,
        typer.Argument(
            metavar="[BACKEND|URL]",
            help="Name of a lineage backend, such as marquez, or the URL of one. Default: plugins.lineage_backend.",
        ),
    ] = None,
    source: Annotated[
        SourceOption,
        typer.Option(help="archive: the Delta table, also records that have expired in Kafka. topic: topics.events."),
    ] = SourceOption.ARCHIVE,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="From this Kafka timestamp: 2h (ago), 2026-01-31T10:00Z."),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option("--follow", "-f", help="Forward new events until Ctrl-C, and wait while the backend is down."),
    ] = False,
    rate: Annotated[
        float | None, typer.Option(min=0.1, metavar="EVENTS", help="Maximum number of events per second.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print how many records are waiting, and where they would go.")
    ] = False,
) -> None:
    """Send events on to an OpenLineage backend such as Marquez, DataHub or OpenMetadata, at least once.

    The position of each partition is saved when the backend has accepted everything before it: the same command
    continues where it stopped, also after a crash, and later sends what is new. Events that the backend refuses for
    good are kept in a file with the reason. Exit code 1: it was stopped, or some events were put aside.

    [bold]Example:[/] lineproof forward https://marquez.example.com --from 7d --rate 100

    [bold]Example:[/] lineproof forward datahub --source topic --follow
    """
    from lineproof.local.forward import forward_of, source_of, state_of, target_of
    from lineproof.local.stop_signal import StopSignal

    settings = context.settings
    config = target_of(settings, to)
    state = state_of(settings, config, source.value, since)
    records = source_of(settings, source.value, state)
    target = config.address(config.endpoint)
    if dry_run:
        err.print(f"{records.count(state.positions):,} records of the {source.value} would go to {target}.")
        return
    if state.has_begun:
        err.print(f"Continuing after {state.sent:,} events. To start over, remove {state.directory}.")
    stop = StopSignal()
    run = forward_of(settings, config, records, state, stop)
    sent_before, aside_before = state.sent, state.put_aside
    with state.locked(), run, progress() as bar:
        if not follow:
            run.confirm()
        stop.listen()
        task = bar.add_task(f"Forwarding to {target}", total=None if follow else records.count(state.positions))
        try:
            for _ in run.run(rate, follow=follow):
                aside = state.put_aside - aside_before
                note = f", {aside:,} put aside" if aside else ""
                done = state.sent - sent_before + aside
                bar.update(task, completed=done, description=f"Forwarding to {target}{note}")
        except LineproofError:
            err.print(f"Stopped after {state.sent - sent_before:,} events. Run the same command to continue.")
            raise
    err.print(f"{state.sent - sent_before:,} events forwarded to {target}.")
    if aside := state.put_aside - aside_before:
        err.print(f"{aside:,} records could not be forwarded. They are in {run.rejected.path}, with the reason.")
    if stop() and not follow:
        err.print("Stopped. Run the same command to continue.")
    if aside or (stop() and not follow):
        raise typer.Exit(1)
